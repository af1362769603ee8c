/** Connections that leave HTTP for another protocol, of which the server has one. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** The protocol of Geo. Requests to upgrade to anything else are served as if they had not asked. */
export const upgradeProtocol = 'coppice-geo';

/** By server. A server does not count them among its connections any more. */
const upgraded = new WeakMap<Server, Set<Duplex>>();

/** Whether a request is taken out of HTTP. */
export const asksForUpgrade = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers.upgrade === upgradeProtocol;

/**
 * Takes the connections that are upgraded.
 * @param take is given the request and what came after it
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

/** Ends the upgraded connections: they have no end of their own that a stop could wait for. */
export function endUpgraded(server: Server): void {
  for (const connection of upgraded.get(server) ?? []) connection.destroy();
}
