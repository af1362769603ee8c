import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { compileCache } from '../test/support/compile_cache.ts';
import { program } from '../test/support/program.ts';

const top = await mkdtemp(path.join(tmpdir(), 'coppice-main-'));
const children: ChildProcess[] = [];
after(async () => {
  for (const child of children.filter((each) => each.exitCode === null && each.signalCode === null)) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await rm(top, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const env = { COPPICE_DATA: path.join(top, 'data'), COPPICE_PORT: String(await freePort()), COPPICE_SSH_PORT: '0' };

function coppice(args: string[], more: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, ...compileCache, ...env, ...more },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
}

async function ended(child: ChildProcess) {
  const [out, err, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'exit')]);
  return { out, err, code: code as number };
}

/** What it prints until it is ready and has printed the text. */
async function ready(child: ChildProcess, awaited = ''): Promise<string> {
  let out = '';
  for await (const part of child.stdout!.iterator({ destroyOnReturn: false })) {
    out += part;
    if (/Ctrl-C stops/.test(out) && out.includes(awaited)) return out;
  }
  throw new Error(`It ended after: ${out}`);
}

const oneCall = { connection: 'close' };

const call = (token: string, address: string, method = 'GET') =>
  fetch(`http://127.0.0.1:${env.COPPICE_PORT}/api/v4${address}`, {
    method,
    headers: { ...oneCall, 'private-token': token },
  });

const version = (token: string) => call(token, '/version');

/** What an operator does about a user who is locked out, or has to be. */
async function manageUsers(token: string): Promise<void> {
  const run = async (words: string[], input?: string) => {
    const child = coppice(['user', ...words]);
    child.stdin?.end(input);
    return await ended(child);
  };
  await run(['create', '--username', 'ada', '--email', 'ada@example.com']);
  const listed = (await run(['list'])).out.trimEnd().split('\n');
  assert.deepEqual(
    listed
      .map((line) => line.split('\t').slice(0, 4))
      .filter(([username]) => username === 'ada' || username === 'root'),
    [
      ['ada', 'active', 'user', 'ada@example.com'],
      ['root', 'active', 'administrator', 'root@localhost'],
    ],
  );
  const signIn = async (password: string) => {
    const form = new URLSearchParams({ grant_type: 'password', username: 'ada', password });
    const reply = await fetch(`http://127.0.0.1:${env.COPPICE_PORT}/oauth/token`, {
      method: 'POST',
      body: form,
      headers: oneCall,
    });
    return reply.status;
  };
  const { out } = await run(['password', 'ada']);
  const printed = /^The new password of ada, shown only this once: (\S+)\n$/.exec(out)?.[1] ?? out;
  assert.equal(await signIn(printed), 200);
  assert.deepEqual(await run(['password', 'ada', '--stdin'], 'a quiet orchard\r\n'), {
    code: 0,
    out: 'ada has a new password.\n',
    err: '',
  });
  assert.deepEqual([await signIn(printed), await signIn('a quiet orchard')], [400, 200]);
  assert.equal((await run(['password', 'ada', '--stdin'], '')).code, 2, 'nothing was given');
  const weak = await run(['password', 'ada', '--stdin'], 'short\n');
  assert.deepEqual([weak.code, /^The password is too short/.test(weak.err)], [2, true], weak.err);
  assert.equal((await run(['block', 'ada'])).out, 'ada is now blocked.\n');
  assert.equal(await signIn('a quiet orchard'), 400);
  assert.equal((await run(['block', 'ada'])).out, 'ada is already blocked.\n');
  assert.equal((await run(['unblock', 'ada'])).out, 'ada is now active.\n');
  assert.equal(await signIn('a quiet orchard'), 200);
  const { id } = await call(token, '/users?username=ada').then(
    async (reply) => ((await reply.json()) as [{ id: number }])[0],
  );
  assert.equal((await call(token, `/users/${id}/ban`, 'POST')).status, 201);
  for (const change of ['block', 'unblock'])
    assert.deepEqual(await run([change, 'ada']), {
      code: 1,
      out: '',
      err: 'ada is banned, which this command does not change.\n',
    });
  assert.deepEqual(await run(['block', 'nobody']), { code: 1, out: '', err: 'There is no user nobody.\n' });
  assert.equal((await version(token)).status, 200);
}

test('the first start prints a token that works, a second only its address, and Ctrl-C leaves nothing running', async () => {
  const first = coppice(['serve']);
  const welcome = await ready(first);
  const token = /glpat-[\w-]+/.exec(welcome)?.[0] ?? '';
  assert.equal((await version(token)).status, 200);
  assert.ok(
    welcome.includes(`Mail is stored as files in ${path.join(top, 'data/mail')}, because COPPICE_SMTP_URL is not set.`),
  );
  first.kill('SIGINT');
  assert.equal((await ended(first)).code, 0);
  assert.ok(!existsSync(path.join(top, 'data/postgres/postmaster.pid')), 'the database has been stopped');

  const second = coppice(['serve'], { COPPICE_SMTP_URL: 'smtp://forge:quiet-orchard@127.0.0.1:1' });
  const said = await ready(second, 'the mail server of COPPICE_SMTP_URL cannot be used');
  assert.ok(!said.includes('glpat-') && !said.includes('Password'));
  assert.match(said, /ECONNREFUSED/);
  assert.ok(!said.includes('quiet-orchard'), 'the password of the mail server is not logged');
  const { product_version, revision } = (await (await version(token)).json()) as {
    product_version: string;
    revision: string;
  };
  assert.ok(said.startsWith(`Coppice ${product_version} (build ${revision}) runs on Node `), said);

  const made = await ended(coppice(['token', 'create', '--user', 'root', '--scopes', 'api']));
  assert.equal(made.code, 0);
  assert.equal((await version(made.out.trim())).status, 200, 'a command uses the database of the running server');
  await manageUsers(made.out.trim());

  const rival = await ended(coppice(['serve'], { COPPICE_DATA: path.join(top, 'other') }));
  assert.equal(rival.code, 1);
  assert.match(rival.err, /^Another program, perhaps another Coppice, is listening on 127\.0\.0\.1/);
  assert.ok(!rival.out.includes('glpat-'), 'no token is printed by a start that fails');
  assert.ok(!existsSync(path.join(top, 'other/postgres')), 'a server that cannot listen makes no database');
  second.kill('SIGTERM');
  assert.equal((await ended(second)).code, 0);
});

test('errors in the command line or the environment are reported in sentences', async () => {
  const unknown = await ended(coppice(['sing']));
  assert.deepEqual([unknown.code, unknown.err.split('\n')[0]], [2, 'There is no command “sing”.']);
  const option = await ended(coppice(['token', 'create', '--user', 'root']));
  assert.deepEqual([option.code, option.err], [2, 'The option --scopes is missing.\n']);
  const settings = await ended(coppice(['serve'], { COPPICE_PROT: '1', COPPICE_LOG_LEVEL: 'loud' }));
  assert.equal(settings.code, 2);
  assert.match(settings.err, /^COPPICE_PROT .*\nCOPPICE_LOG_LEVEL .*\n$/);
  assert.equal((await ended(coppice(['serve', '--help']))).code, 0);
  assert.match((await ended(coppice(['--version']))).out, /^Coppice \d+\.\d+\.\d+ \(build \w+\)\n$/);
  const checked = await ended(coppice(['config', 'check'], { COPPICE_URL: 'https://forge.example' }));
  assert.deepEqual([checked.code, checked.err], [0, '']);
  assert.match(checked.out, /^The settings can be used: the server would be at https:\/\/forge\.example, /);
  assert.equal((await ended(coppice(['config', 'check'], { COPPICE_PORT: 'x' }))).code, 2);
  const sent = await ended(coppice(['mail', 'test', 'ada@example.com'], { COPPICE_DATA: path.join(top, 'mailing') }));
  assert.deepEqual(
    [sent.code, /^The message is a file in /.test(sent.out), readdirSync(path.join(top, 'mailing/mail')).length],
    [0, true, 1],
  );
  const unsent = await ended(coppice(['mail', 'test', 'ada@example.com'], { COPPICE_SMTP_URL: 'smtp://127.0.0.1:1' }));
  assert.deepEqual(
    [unsent.code, /^The message was not sent: .*ECONNREFUSED.*\.\n$/.test(unsent.err)],
    [1, true],
    unsent.err,
  );
});
