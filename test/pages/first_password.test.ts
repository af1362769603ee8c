/** The links by which an operator gives someone a password: at the first start, and later with a command. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { addFirstAdministrator, type FirstAdministrator } from '../../src/commands/first_administrator.ts';
import { userPassword } from '../../src/commands/user_password.ts';
import { type Config, readConfig } from '../../src/config.ts';
import type { Database } from '../../src/db/index.ts';
import { anonymousBrowser } from '../support/browser.ts';
import { testDatabase } from '../support/database.ts';
import { formsIn, sentBy } from '../support/html_tree.ts';
import { type RunningServer, startServer } from '../support/populate.ts';

let data: string;
let db: Database;
let config: Config;
let server: RunningServer;
before(async () => {
  data = await mkdtemp(path.join(tmpdir(), 'coppice-first-'));
  const database = await testDatabase();
  db = database.db;
  const secret = { COPPICE_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'), COPPICE_URL: 'http://coppice.test' };
  config = readConfig({ ...secret, COPPICE_DATA: data, COPPICE_DATABASE_URL: database.connectionString });
  server = await startServer(db, { environment: secret });
});
after(async () => {
  await server.stop();
  await rm(data, { recursive: true });
});

/** Follows a link, and chooses a password there. @returns the statuses of choosing it once, and once more */
async function choose(link: string, password: string): Promise<number[]> {
  const browser = anonymousBrowser(server.url);
  const { origin, pathname, search } = new URL(link);
  assert.equal(origin, 'http://coppice.test');
  const { status, html } = await browser.get(pathname + search);
  assert.equal(status, 200);
  const form = formsIn(html).find(({ id }) => id === 'choose')!;
  const typed = { ...sentBy(form), password, password_confirmation: password };
  const once = await browser.send(form.action, 'choose', typed);
  return [once.status, (await browser.send(form.action, 'choose', typed)).status];
}

async function signIn(login: string, password: string): Promise<number> {
  return (await anonymousBrowser(server.url).send('/users/sign_in', 'sign_in', { login, password })).status;
}

test('the first start prints a link by which the administrator chooses a password', async () => {
  const told: FirstAdministrator[] = [];
  await addFirstAdministrator(db, config, (administrator) => told.push(administrator));
  const [{ password_link }] = told as [FirstAdministrator];
  assert.deepEqual(await choose(password_link!, 'a word for the first one'), [303, 410]);
  assert.equal(await signIn('root', 'a word for the first one'), 303);
});

test('a command prints a link for any user, and changes nothing before it is followed', async (t) => {
  const printed: string[] = [];
  const { mock } = t.mock.method(console, 'log', (text: string) => void printed.push(text));
  const code = await userPassword.run({ text: {}, switches: { link: true }, lists: {}, operand: 'root' }, config);
  mock.restore();
  assert.equal(code, 0);
  assert.equal(await signIn('root', 'a word for the first one'), 303);
  const [link] = /http:\S+/.exec(printed.join('\n'))!;
  assert.deepEqual(await choose(link!, 'another word for the first one'), [303, 410]);
  assert.deepEqual(
    [await signIn('root', 'a word for the first one'), await signIn('root', 'another word for the first one')],
    [401, 303],
  );
});
