/** `npm start` as operators use it: stopped through npm, and with an npm that runs no scripts before others. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { compileCache } from '../support/compile_cache.ts';
import { atFileEnd } from '../support/file_end.ts';
import { dataFolder, folder, freePort, serve } from './coppice.ts';

const top = path.resolve(import.meta.dirname, '../..');

function npm(words: string[], cwd: string, environment: Record<string, string>): ChildProcess {
  const { PATH, HOME } = process.env;
  const child = spawn('npm', words, {
    cwd,
    env: { PATH, HOME, ...compileCache, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  atFileEnd(() => void child.kill('SIGTERM'));
  return child;
}

/** Starts the server with npm. */
async function npmStart(data: string): Promise<ChildProcess> {
  const port = String(await freePort());
  const child = npm(['start'], top, {
    COPPICE_DATA: data,
    COPPICE_PORT: port,
    COPPICE_SSH_PORT: '0',
    COPPICE_LOG_LEVEL: 'error',
  });
  child.stderr!.resume();
  let said = '';
  for await (const part of child.stdout!.iterator({ destroyOnReturn: false })) {
    said += part;
    if (/Ctrl-C stops/.test(said)) return child;
  }
  throw new Error(`It ended after: ${said}`);
}

const lockFile = (data: string) => path.join(data, 'postgres/postmaster.pid');

async function databaseStopped(data: string): Promise<void> {
  while (existsSync(lockFile(data))) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('a signal to npm stops the server and the database in order', async () => {
  const data = await dataFolder();
  const child = await npmStart(data);
  assert.ok(existsSync(lockFile(data)));
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
  assert.ok(!existsSync(lockFile(data)), 'npm ends after the server, and the server after its database');
});

test('the end of npm stops the server and the database', async () => {
  const data = await dataFolder();
  for (const signal of ['SIGHUP', 'SIGKILL'] as const) {
    const child = await npmStart(data);
    child.kill(signal);
    await databaseStopped(data);
  }
  assert.doesNotMatch(readFileSync(path.join(data, 'postgres.log'), 'utf8'), /was not properly shut down|interrupted/);
});

test('the end of the terminal stops the server in order', async () => {
  const data = await dataFolder();
  const server = await serve({ COPPICE_DATA: data });
  const exit = once(server.child, 'exit');
  server.child.kill('SIGHUP');
  assert.deepEqual(await exit, [0, null]);
  assert.ok(!existsSync(lockFile(data)));
});

/** What an installation needs of a checkout. */
async function bareClone(): Promise<string> {
  const clone = await folder();
  for (const name of ['package.json', 'package-lock.json', 'scripts'])
    await cp(path.join(top, name), path.join(clone, name), { recursive: true });
  return clone;
}

test('an installation tells how far it is, also where there is no terminal', async () => {
  const clone = await bareClone();
  const isSeen = path.join(clone, 'seen');
  // It installs one package, and ends when that has been told.
  const slowNpm = `
    import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
    mkdirSync('node_modules/fastify', { recursive: true });
    writeFileSync('node_modules/fastify/package.json', '{}');
    setInterval(() => existsSync('seen') && process.exit(1), 20);`;
  writeFileSync(path.join(clone, 'npm.mjs'), slowNpm);
  const env = { ...process.env, npm_execpath: path.join(clone, 'npm.mjs'), npm_node_execpath: process.execPath };
  const child = spawn(process.execPath, ['scripts/install.mjs'], {
    cwd: clone,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  atFileEnd(() => void child.kill());
  let said = '';
  for await (const part of child.stdout) {
    said += part;
    if (/^Installed 1 of \d+ packages\.$/m.test(said)) writeFileSync(isSeen, '');
  }
  assert.ok(existsSync(isSeen), said);
});

test('with ignore-scripts npm still installs, or the start says what to do', async () => {
  const clone = await bareClone();
  const environment = {
    npm_config_ignore_scripts: 'true',
    npm_config_offline: 'true',
    npm_config_cache: path.join(clone, 'cache'),
  };
  const child = npm(['start'], clone, environment);
  const [err, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit'), text(child.stdout!)]);
  assert.equal(code, 1);
  assert.match(err, /^The installation failed\. `npm ci` tells more; it needs to reach the npm registry\.$/m);
  assert.doesNotMatch(err, /^\s+at /m);
});
