import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import pino from 'pino';
import { testDatabase } from '../test/support/database.ts';
import { buildApp } from './app.ts';
import { readConfig } from './config.ts';
import { secretsOf } from './services/index.ts';

test('the log contains no token of any link', async (t) => {
  const data = await mkdtemp(path.join(tmpdir(), 'coppice-app-'));
  t.after(() => rm(data, { recursive: true, force: true }));
  const { db } = await testDatabase();
  const config = readConfig({ COPPICE_DATA: data });
  const lines: string[] = [];
  const app = await buildApp({ config, db, log: pino({ level: 'trace' }, { write: (line) => lines.push(line) }) });
  t.after(() => app.close());
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
