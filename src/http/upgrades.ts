/** Connections that switch from HTTP to another protocol; the server supports one. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** The protocol of Geo. Other upgrade requests are ignored, and served as ordinary requests. */
export const upgradeProtocol = 'coppice-geo';

/** Upgraded connections by server. A server no longer counts them among its connections. */
const upgraded = new WeakMap<Server, Set<Duplex>>();

/** Whether a request is taken out of HTTP. */
export const asksForUpgrade = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers.upgrade === upgradeProtocol;

/**
 * Takes over the upgraded connections.
 * @param take receives the request and the bytes after it
 */
export function takeUpgrades(
  server: Server,
  take: (request: IncomingMessage, connection: Duplex, head: Buffer) => void,
): void {
  const open = new Set<Duplex>();
  upgraded.set(server, open);
  server.on('upgrade', (request, connection, head) => {
    open.add(connection);
    connection.once('close', () => open.delete(connection));
    connection.on('error', () => connection.destroy());
    take(request, connection, head);
  });
}

/** Closes the upgraded connections: they do not end by themselves, so a stop could not wait for them. */
export function endUpgraded(server: Server): void {
  for (const connection of upgraded.get(server) ?? []) connection.destroy();
}
