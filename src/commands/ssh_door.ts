/** The port of git over SSH. */
import type { Logger } from 'pino';
import { gitOverSsh } from '../areas/code/repository/index.ts';
import { type Config, usualSshPort } from '../config.ts';
import type { Database } from '../db/index.ts';
import { secretsOf, servicesFor } from '../services/index.ts';
import type { Door } from './door.ts';
import { listenProblem, portTaken } from './listening.ts';

const closed: Door = { close: async () => {} };

/**
 * Starts listening, unless the port is 0, or is taken and nobody asked for it. The host key is derived from the secret key, so that all servers on one database, and a restored one, have the same.
 * @throws OperatorError when it cannot
 */
export async function openSshDoor(config: Config, db: Database, log: Logger): Promise<Door> {
  const { host, sshPort: port = usualSshPort, connectionsPerAddress } = config;
  if (port === 0) return closed;
  const { privateKeyText, startSshServer } = await import('../ssh/index.ts');
  const hostKey = privateKeyText(secretsOf(config).signingKeyFor('ssh host key'));
  const options = { hostKey, connectionsPerAddress, ...gitOverSsh(servicesFor(config, db), log) };
  return startSshServer(options, { host, port }).catch((error: NodeJS.ErrnoException) => {
    const at = { host, port, variable: 'COPPICE_SSH_PORT' } as const;
    if (error.code !== 'EADDRINUSE' || config.sshPort !== undefined) throw listenProblem(error, at);
    log.warn(portTaken(at));
    return closed;
  });
}
