import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { sql } from 'kysely';
import pino from 'pino';
import { world } from '../../../../test/support/world.ts';
import { buildApp } from '../../../app.ts';
import { readConfig } from '../../../config.ts';
import type { Database } from '../../../db/index.ts';
import { secretsFrom } from '../../../secrets/index.ts';
import { tokenPurpose } from './queries.ts';

const api_url = 'https://kube.example.com:6443';
const bodyOf = (name: string, token: string) => ({
  name,
  environment_scope: name,
  platform_kubernetes_attributes: { api_url, token },
});

/** Every row of every table as text; bytes as hexadecimal digits. */
async function everythingIn(db: Database): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'graphile_worker')`.execute(
    db,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql<{ text: string }>`select kept::text as text from ${sql.raw(name)} kept`.execute(db);
    texts.push(...rows.map(({ text }) => text));
  }
  return texts.join('\n');
}

test('the token is encrypted in the database, and is in no reply and no log', async (t) => {
  const { db, people, services } = await world({});
  const data = await mkdtemp(path.join(tmpdir(), 'coppice-clusters-'));
  t.after(() => rm(data, { recursive: true, force: true }));
  let said = '';
  const lines = new Writable({
    write: (chunk, _encoding, done) => {
      said += chunk;
      done();
    },
  });
  const app = await buildApp({
    config: readConfig({ COPPICE_DATA: data, COPPICE_URL: services.url, COPPICE_SECRET_KEY: 'k'.repeat(32) }),
    db,
    log: pino({ level: 'trace' }, lines),
  });
  t.after(() => app.close());
  const ask = async (method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) => {
    const headers = { 'private-token': people.admin.token };
    const reply = await app.inject({
      method,
      url: `/api/v4/admin/clusters${url}`,
      headers,
      ...(payload ? { payload } : {}),
    });
    said += `${JSON.stringify(reply.headers)} ${reply.payload}`;
    return reply.json();
  };
  const tokens = ['first-swordfish', 'second-swordfish', 'third-swordfish'] as const;
  const { id } = await ask('POST', '/add', bodyOf('Orchard', ` ${tokens[0]}\n`));
  await ask(
    'POST',
    `/add?name=Other&platform_kubernetes_attributes[api_url]=${api_url}&platform_kubernetes_attributes[token]=${tokens[1]}`,
  );
  const stored = async () =>
    (await db.selectFrom('clusters').select('token').where('id', '=', id).executeTakeFirstOrThrow()).token;
  const first = await stored();
  await ask('PUT', `/${id}`, { platform_kubernetes_attributes: { token: tokens[2] } });
  await ask('POST', '/add', bodyOf('Orchard', tokens[2]));
  await ask('POST', '/add', { ...bodyOf('x', tokens[2]), name: {} });
  await ask('GET', `/${id}`);
  await ask('GET', '');
  assert.ok(said.includes('"path":"/api/v4/admin/clusters/add"') && said.includes(api_url));

  const kept = await everythingIn(db);
  assert.ok(kept.includes(api_url));
  for (const token of tokens) {
    for (const form of [
      token,
      Buffer.from(token).toString('hex'),
      Buffer.from(token).toString('base64').slice(0, 16),
    ]) {
      assert.ok(!said.includes(form), `${form} was said`);
      assert.ok(!kept.includes(form), `${form} is kept`);
    }
  }
  assert.equal(secretsFrom('k'.repeat(32)).unseal(tokenPurpose, first), tokens[0]);
  assert.equal(secretsFrom('k'.repeat(32)).unseal(tokenPurpose, await stored()), tokens[2]);
});
