/**
 * Access to the database of the primary: a connection that is upgraded to a byte stream, with a role that can only read
 * and replicate.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { type Duplex, pipeline } from 'node:stream';
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { ApiError, conflict, type Services, upgradeProtocol } from '../../../http/index.ts';
import { signedBy } from '../link/access.ts';
import { followerRole } from './definition.ts';
import { readStartup } from './startup_rules.ts';

const databasePath = '/api/v4/geo/database';
/** A client must send its startup message within this time. */
const startup_ms = 10_000;

interface Target {
  socket: string;
  database: string;
}

/** @throws ApiError 409 for a database that is not embedded: its operator configures how a secondary reaches it */
async function targetOf(db: Database, isEmbedded: boolean): Promise<Target> {
  if (!isEmbedded)
    throw conflict('The database of the primary is external: set COPPICE_GEO_DATABASE_URL on the secondary.');
  const { rows } = await sql<{ folder: string; port: string; database: string }>`
    select current_setting('unix_socket_directories') as folder, current_setting('port') as port, current_database() as database`.execute(
    db,
  );
  const { folder, port, database } = rows[0]!;
  return { socket: path.join(folder, `.s.PGSQL.${port}`), database };
}

/** Reads the startup message of the database client, and refuses any role or database but the follower's own. */
async function startupOf(connection: Duplex, head: Buffer, { database }: Target): Promise<Buffer> {
  let bytes = head;
  for (;;) {
    const startup = readStartup(bytes);
    if (startup) {
      const { parameters } = startup;
      const isFollower = parameters.get('user') === followerRole && parameters.get('replication') === 'database';
      if (!isFollower || parameters.get('database') !== database) throw new Error('Only a subscription is let in.');
      return bytes;
    }
    bytes = Buffer.concat([bytes, await nextPart(connection)]);
  }
}

function nextPart(connection: Duplex): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const timer = setTimeout(() => reject(new Error('Nothing came.')), startup_ms);
  const end = () => reject(new Error('The connection has ended.'));
  connection.once('data', (part: Buffer) => {
    connection.pause();
    resolve(part);
  });
  // The other side may only end its direction of the stream.
  connection.once('end', end).once('close', end).resume();
  return promise.finally(() => {
    clearTimeout(timer);
    connection.off('end', end).off('close', end);
  });
}

async function admit(services: Services, isEmbedded: boolean, request: IncomingMessage): Promise<Target> {
  const { method = '', url = '', headers } = request;
  if (method !== 'GET' || url !== databasePath) throw new ApiError(404, { message: '404 Not Found' });
  await signedBy(services, { method, path: url, headers });
  return targetOf(services.db, isEmbedded);
}

async function relay(connection: Duplex, head: Buffer, target: Target): Promise<void> {
  const first = await startupOf(connection, head, target);
  const database = connect(target.socket);
  database.write(first);
  pipeline(connection, database, () => {});
  pipeline(database, connection, () => {});
}

function refuse(connection: Duplex, error: unknown): void {
  const { status, body } =
    error instanceof ApiError ? error : { status: 503, body: { message: '503 Service Unavailable' } };
  const text = JSON.stringify(body);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}`;
  connection.end(`${head}\r\nConnection: close\r\n\r\n${text}`);
}

/**
 * Serves the upgraded connections at a primary.
 * @param isEmbedded whether its database is the embedded one
 */
export const databaseUpgrade =
  (services: Services, isEmbedded: boolean) =>
  async (request: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> => {
    try {
      const target = await admit(services, isEmbedded, request);
      connection.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${upgradeProtocol}\r\n\r\n`,
      );
      await relay(connection, head, target).catch(() => connection.destroy());
    } catch (error) {
      refuse(connection, error);
    }
  };
