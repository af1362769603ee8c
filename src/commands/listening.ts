/** Why a port cannot be listened on, as sentences for the operator. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, usualSshPort } from '../config.ts';
import { OperatorError } from './command.ts';

interface Port {
  host: string;
  port: number;
  /** The variable that chooses the port. */
  variable: 'COPPICE_PORT' | 'COPPICE_SSH_PORT';
}

/** The message for a port that another program uses. */
function portTaken({ host, port, variable }: Port): string {
  const purpose = variable === 'COPPICE_SSH_PORT' ? ', where git over SSH would be' : '';
  const remedy = variable === 'COPPICE_SSH_PORT' ? ', or to 0 to go without it' : '';
  return `Another program, perhaps another Coppice, is listening on ${host}, port ${port}${purpose}. Stop it, or set ${variable} to a different port${remedy}.`;
}

/** How long a server that is stopping may still listen. */
const farewell_ms = 2000;
const tryAgain_ms = 100;

/**
 * Tries to bind the ports first, so that nothing is created or migrated for a server that cannot listen. Git over SSH is off when another program
 * has its usual port and the operator has not asked for it.
 * @param warn receives a message about that
 * @returns the configuration with the port of SSH
 * @throws OperatorError when a port cannot be bound
 */
export async function settlePorts(config: Config, warn: (sentence: string) => void): Promise<Config> {
  const { host, port, sshPort } = config;
  const http: Port = { host, port, variable: 'COPPICE_PORT' };
  if (!(await isFree(http))) throw new OperatorError(portTaken(http));
  if (sshPort === 0) return config;
  const ssh: Port = { host, port: sshPort ?? usualSshPort, variable: 'COPPICE_SSH_PORT' };
  if (await isFree(ssh)) return { ...config, sshPort: ssh.port };
  if (sshPort !== undefined) throw new OperatorError(portTaken(ssh));
  warn(portTaken(ssh));
  return { ...config, sshPort: 0 };
}

async function isFree(at: Port): Promise<boolean> {
  const giveUpAt = Date.now() + farewell_ms;
  for (;;) {
    const listener = createServer();
    try {
      listener.listen({ host: at.host, port: at.port });
      await once(listener, 'listening');
      listener.close();
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE')
        throw listenProblem(error as NodeJS.ErrnoException, at);
      if (Date.now() > giveUpAt) return false;
      await sleep(tryAgain_ms);
    }
  }
}

/** The message for an operator about an error of listening; an error that they cannot fix is returned unchanged. */
export function listenProblem(error: NodeJS.ErrnoException, at: Port): Error {
  const { host, port, variable } = at;
  if (error.code === 'EADDRINUSE') return new OperatorError(portTaken(at));
  if (error.code === 'EACCES')
    return new OperatorError(
      `This account is not allowed to listen on ${host}, port ${port}. Set ${variable} to 1024 or more.`,
    );
  if (error.code === 'EADDRNOTAVAIL')
    return new OperatorError(`COPPICE_HOST, ${host}, is not an address of this machine.`);
  if (error.code === 'ENOTFOUND') return new OperatorError(`COPPICE_HOST, ${host}, cannot be resolved.`);
  return error;
}
