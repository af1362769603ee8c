/** The port of git over SSH. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { type Config, usualSshPort } from '../config.ts';
import type { Door } from './door.ts';
import { listenProblem, portTaken } from './listening.ts';

const closed: Door = { close: async () => {} };

/**
 * Starts listening, unless the port is 0, or is taken and nobody asked for it.
 * @param take is given the connections, which are paused
 * @throws OperatorError when it cannot
 */
export async function openSshDoor(config: Config, log: Logger, take: (socket: Socket) => void): Promise<Door> {
  const { host, sshPort: port = usualSshPort } = config;
  if (port === 0) return closed;
  const listener = createServer({ pauseOnConnect: true, noDelay: true }, take);
  try {
    listener.listen({ host, port });
    await once(listener, 'listening');
  } catch (error) {
    const at = { host, port, variable: 'COPPICE_SSH_PORT' } as const;
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (!isTaken || config.sshPort !== undefined) throw listenProblem(error as NodeJS.ErrnoException, at);
    log.warn(portTaken(at));
    return closed;
  }
  listener.on('error', (error) => log.error({ err: error }, 'cannot accept SSH connections'));
  return { close: async () => void listener.close() };
}
