/** The secondary's end of the tunnel to the primary's database: a socket that its own PostgreSQL connects to. */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../../db/index.ts';
import { upgradeProtocol } from '../../../http/index.ts';
import { forgetCredential, type Site as LinkedSite, signedRequest } from '../link/request_actions.ts';

/** The socket is next to that of the database itself, in a folder that only its account can enter. */
const port = 5433;
const silence_ms = 30_000;

/** The address that the subscription connects to, in the form of libpq. */
export async function tunnelAddress(db: Database): Promise<{ host: string; port: number }> {
  const { rows } = await sql<{ host: string }>`select current_setting('unix_socket_directories') as host`.execute(db);
  return { host: rows[0]!.host, port };
}

/** Tunnels one connection to the primary. PostgreSQL reconnects when it ends. */
async function lead(site: LinkedSite, log: Logger, client: Socket): Promise<void> {
  const { url, headers } = await signedRequest(site, { method: 'GET', path: '/database' });
  const start = url.startsWith('https:') ? requestSecure : requestPlain;
  const request = start(url, {
    agent: false,
    headers: { ...headers, connection: 'Upgrade', upgrade: upgradeProtocol },
  });
  const giveUp = (reason: unknown) => {
    log.debug({ reason }, 'the database of the primary cannot be reached');
    request.destroy();
    client.destroy();
  };
  const timer = setTimeout(() => giveUp('no answer'), silence_ms);
  client.on('error', giveUp);
  request.once('close', () => clearTimeout(timer)).on('error', giveUp);
  request.once('response', ({ statusCode }) => {
    if (statusCode === 401) forgetCredential(site);
    giveUp(statusCode);
  });
  request.once('upgrade', (_response, server, head) => {
    clearTimeout(timer);
    server.setTimeout(0).setKeepAlive(true, silence_ms);
    client.write(head);
    pipeline(client, server, () => {});
    pipeline(server, client, () => {});
  });
  request.end();
}

export interface Tunnel {
  close(): Promise<void>;
}

/**
 * Opens the tunnel, in the one process of a secondary that runs its database.
 * @param db the database of the secondary, which is on this machine
 */
export async function openTunnel(site: LinkedSite, db: Database, log: Logger): Promise<Tunnel> {
  const { host } = await tunnelAddress(db);
  const socket = path.join(host, `.s.PGSQL.${port}`);
  await rm(socket, { force: true }); // left by a process that was killed
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client);
    client.once('close', () => open.delete(client));
    lead(site, log, client).catch((reason) => {
      log.debug({ reason }, 'the primary cannot be reached');
      client.destroy();
    });
  });
  // The database may run under another account than this process; the folder is closed to all others.
  server.listen({ path: socket, readableAll: true, writableAll: true });
  await once(server, 'listening');
  return {
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const client of open) client.destroy();
      await closed;
    },
  };
}
