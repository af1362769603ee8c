/** The way to the database of the primary. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type World, world } from '../../../../test/support/world.ts';
import { newCredential } from '../link/credential_rules.ts';
import { signedRequest } from '../link/request_actions.ts';
import { followerRole } from './definition.ts';

/** A primary with a node, and the request of that node. */
async function primary(): Promise<{ here: World; headers: Record<string, string>; url: string; database: string }> {
  const here = await world({ environment: { COPPICE_GEO_ROLE: 'primary' } });
  const name = `Secondary of ${here.project.path}`;
  await here.db
    .insertInto('geo_nodes')
    .values({ name, url: 'https://lisbon.example/', credential: newCredential(here.services.secrets) })
    .execute();
  const geo = { ...here.services.geo, role: 'secondary', nodeName: name, primaryUrl: here.url } as const;
  const signed = await signedRequest({ secrets: here.services.secrets, geo }, { method: 'GET', path: '/database' });
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(here.db);
  return { here, ...signed, database: rows[0]!.name };
}

interface Upgraded {
  status: number;
  connection?: Duplex;
}

async function upgrade(url: string, headers: Record<string, string>): Promise<Upgraded> {
  const asked = request(url, { headers: { ...headers, connection: 'Upgrade', upgrade: 'coppice-geo' } });
  const { promise, resolve, reject } = Promise.withResolvers<Upgraded>();
  asked.on('upgrade', (response, connection) => resolve({ status: response.statusCode!, connection }));
  asked.on('response', (response) => resolve({ status: response.resume().statusCode! }));
  asked.on('error', reject);
  asked.end();
  return promise;
}

function startupMessage(parameters: Record<string, string>): Buffer {
  const words = Buffer.from(`${Object.entries(parameters).flat().join('\0')}\0\0`);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + words.length, 0);
  head.writeUInt32BE(0x0003_0000, 4);
  return Buffer.concat([head, words]);
}

/** What comes back until the connection ends. */
async function answerTo(connection: Duplex, message: Buffer): Promise<string> {
  let said = '';
  connection.on('data', (part: Buffer) => {
    said += part.toString('latin1');
  });
  connection.write(message);
  connection.on('error', () => {});
  await Promise.race([once(connection, 'close'), once(connection, 'data')]);
  connection.destroy();
  return said;
}

test('only a signed request reaches the database, once', async () => {
  const { here, headers, url } = await primary();
  assert.equal((await upgrade(url, {})).status, 401);
  assert.equal((await upgrade(url, { authorization: `Bearer ${here.people.admin.token}` })).status, 401);
  const { status, connection } = await upgrade(url, headers);
  assert.equal(status, 101);
  connection!.destroy();
  assert.equal((await upgrade(url, headers)).status, 401);
  assert.equal((await upgrade(`${here.url}/-/readiness`, headers)).status, 404);
});

test('PostgreSQL serves a follower, and any other session is ended before it reaches PostgreSQL', async () => {
  const follower = { user: followerRole, replication: 'database' };
  for (const change of [{ user: 'coppice' }, { replication: 'true' }, { database: 'postgres' }]) {
    const { headers, url, database } = await primary();
    const { connection } = await upgrade(url, headers);
    assert.equal(
      await answerTo(connection!, startupMessage({ ...follower, database, ...change })),
      '',
      JSON.stringify(change),
    );
  }
  const { headers, url, database } = await primary();
  const { connection } = await upgrade(url, headers);
  // The database of tests is not prepared for replication.
  assert.match(await answerTo(connection!, startupMessage({ ...follower, database })), /^E.*FATAL/s);
});

test('requests for other upgrades are served without an upgrade', async () => {
  const here = await world();
  const asked = request(`${here.url}/-/liveness`, { headers: { connection: 'Upgrade', upgrade: 'h2c' } });
  asked.end();
  const [response] = (await once(asked, 'response')) as [{ statusCode: number; resume(): void }];
  response.resume();
  assert.equal(response.statusCode, 200);
});
