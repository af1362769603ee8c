/** The port of git over SSH. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Door } from './door.ts';
import { listenProblem } from './listening.ts';

const closed: Door = { close: async () => {} };

/**
 * Starts listening, unless the port is 0.
 * @param take receives the connections, which are paused
 * @throws OperatorError when it cannot
 */
export async function openSshDoor(config: Config, log: Logger, take: (socket: Socket) => void): Promise<Door> {
  const { host, sshPort: port } = config;
  if (!port) return closed;
  const listener = createServer({ pauseOnConnect: true, noDelay: true }, take);
  try {
    listener.listen({ host, port });
    await once(listener, 'listening');
  } catch (error) {
    throw listenProblem(error as NodeJS.ErrnoException, { host, port, variable: 'COPPICE_SSH_PORT' });
  }
  listener.on('error', (error) => log.error({ err: error }, 'cannot accept SSH connections'));
  return { close: async () => void listener.close() };
}
