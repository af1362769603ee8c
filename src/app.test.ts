import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import pino from 'pino';
import { testDatabase } from '../test/support/database.ts';
import { buildApp } from './app.ts';
import { readConfig } from './config.ts';
import { answerLast } from './http/drain.ts';
import { secretsOf } from './services/index.ts';

/** An app that does not listen, with the lines of its log. */
async function appFor(t: TestContext) {
  const data = await mkdtemp(path.join(tmpdir(), 'coppice-app-'));
  t.after(() => rm(data, { recursive: true, force: true }));
  const { db } = await testDatabase();
  const config = readConfig({ COPPICE_DATA: data });
  const lines: string[] = [];
  const app = await buildApp({ config, db, log: pino({ level: 'trace' }, { write: (line) => lines.push(line) }) });
  t.after(() => app.close());
  return { app, config, lines };
}

test('a server that is stopping is alive, but not ready', async (t) => {
  const { app } = await appFor(t);
  const ready = async () => (await app.inject({ url: '/-/readiness' })).json();
  assert.equal((await ready()).status, 'ok');
  answerLast(app.server, Promise.resolve());
  assert.deepEqual(await ready(), {
    status: 'failed',
    message: '503 Service Unavailable - The server is stopping',
  });
  assert.equal((await app.inject({ url: '/-/liveness' })).statusCode, 200);
});

test('the log contains no token of any link', async (t) => {
  const { app, config, lines } = await appFor(t);
  const token = secretsOf(config).linkToken('any', crypto.randomUUID());
  const urls = [
    `/-/profile/emails/confirmation?confirmation_token=${token}`,
    `/users/confirmation?confirmation_token=${token}`,
    `/-/invites/${token}`,
    `/-/invites/${token}/decline?invite_type=initial_email`,
    `/-/invites/${token}/no/such/page`,
  ];
  for (const url of urls) {
    for (const method of ['GET', 'POST', 'HEAD'] as const) await app.inject({ method, url });
  }
  assert.equal(lines.length, 3 * urls.length);
  assert.ok(!lines.join('').includes(token));
  const paths = new Set(lines.map((line) => JSON.parse(line).path));
  assert.deepEqual(
    [...paths],
    [
      '/-/profile/emails/confirmation',
      '/users/confirmation',
      '/-/invites/:token',
      '/-/invites/:token/decline',
      '/-/invites/:token/no/such/page',
    ],
  );
});
