/** Why a port cannot be listened on, as sentences for the operator. */
import { OperatorError } from './command.ts';

interface Port {
  host: string;
  port: number;
  /** The variable that chooses the port. */
  variable: 'COPPICE_PORT' | 'COPPICE_SSH_PORT';
}

/** The sentence for a port that another program has. */
export function portTaken({ host, port, variable }: Port): string {
  const purpose = variable === 'COPPICE_SSH_PORT' ? ', where git over SSH would be' : '';
  const remedy = variable === 'COPPICE_SSH_PORT' ? ', or to 0 to go without it' : '';
  return `Another program is listening on ${host}, port ${port}${purpose}. Set ${variable} to a different port${remedy}.`;
}

/** What to tell the operator about an error of listening; an error that they cannot mend is returned as it is. */
export function listenProblem(error: NodeJS.ErrnoException, at: Port): Error {
  const { host, port, variable } = at;
  if (error.code === 'EADDRINUSE') return new OperatorError(portTaken(at));
  if (error.code === 'EACCES')
    return new OperatorError(`This account is not allowed to listen on ${host}, port ${port}. Set ${variable} to 1024 or more.`);
  if (error.code === 'EADDRNOTAVAIL') return new OperatorError(`COPPICE_HOST, ${host}, is not an address of this machine.`);
  if (error.code === 'ENOTFOUND') return new OperatorError(`COPPICE_HOST, ${host}, cannot be resolved.`);
  return error;
}
