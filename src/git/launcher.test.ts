import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { temporaryRepository } from '../../test/support/bare_repository.ts';
import { launcherOf } from '../../test/support/launcher.ts';
import { git } from './command.ts';
import { type GitProcess, launch } from './launcher.ts';

const env = { PATH: process.env.PATH! };

/** A git that waits for its input. */
const waiting = (): Promise<GitProcess> => launch({ args: ['hash-object', '--stdin'], env, streams: ['stdin'] });

/** A program that has started git. */
async function otherServer(t: TestContext, TMPDIR: string): Promise<ChildProcess> {
  const launcher = new URL('launcher.ts', import.meta.url);
  const script = `const { launch } = await import('${launcher}');
    await launch({ args: ['hash-object', '--stdin'], env: ${JSON.stringify(env)}, streams: ['stdin'] }); console.log('started');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...env, TMPDIR },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout!, 'data');
  return child;
}

test('git reads its input, writes its output, and says how it ended', async () => {
  const { stdin, stdout, ended } = await waiting();
  const output = text(stdout);
  stdin!.end('hello\n');
  assert.equal(await output, 'ce013625030ba8dba906f756967f9e9ca394464a\n');
  assert.deepEqual(await ended, { code: 0, stderr: '' });

  const failed = await launch({ args: ['cat-file', 'nothing'], env });
  failed.stdout.resume();
  const { code, stderr } = await failed.ended;
  assert.equal(code, 128);
  assert.match(stderr, /^fatal: /);
});

test('a stopped git is reported without an exit code', async () => {
  const process = await waiting();
  process.stdout.resume();
  process.kill('SIGTERM');
  assert.deepEqual(await process.ended, { code: null, stderr: '' });
});

test('many short processes at once all end with their own output', async () => {
  const texts = Array.from({ length: 200 }, (_, number) => `number ${number}`);
  const echoed = await Promise.all(
    texts.map(async (name) => {
      const { stdout, ended } = await launch({
        args: ['check-ref-format', '--normalize', `a/${name.replace(' ', '-')}`],
        env,
      });
      const [output, { code }] = await Promise.all([text(stdout), ended]);
      return [output, code];
    }),
  );
  assert.deepEqual(
    echoed,
    texts.map((name) => [`a/${name.replace(' ', '-')}\n`, 0]),
  );
});

test('when the process that starts git is killed, its running gits fail and the next one works', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const repository = await temporaryRepository(t);
  const lost = await waiting();
  lost.stdout.resume();
  process.kill((await launcherOf(process.pid)).pid, 'SIGKILL');
  assert.deepEqual(await lost.ended, { code: null, stderr: 'the process that starts git has ended' });
  assert.equal(String(await git(repository, 'rev-parse', ['--is-bare-repository'])), 'true\n');
});

test('git runs after the folder of the socket was removed, and what ran before goes on', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const repository = await temporaryRepository(t);
  const before = await waiting();
  const { folder } = await launcherOf(process.pid);
  await rm(folder, { recursive: true });
  const answers = await Promise.all([1, 2, 3].map(() => git(repository, 'rev-parse', ['--is-bare-repository'])));
  assert.deepEqual(answers.map(String), ['true\n', 'true\n', 'true\n']);
  const output = text(before.stdout);
  before.stdin!.end('hello\n');
  assert.equal(await output, 'ce013625030ba8dba906f756967f9e9ca394464a\n');
  assert.deepEqual(await before.ended, { code: 0, stderr: '' });
});

test('nothing is left of a server that was killed', { skip: process.platform !== 'linux' }, async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-launcher-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const killed = await otherServer(t, folder);
  const its = await launcherOf(killed.pid!);
  killed.kill('SIGKILL');
  while (existsSync(its.folder)) await nextTurn();

  // Its launcher was killed with it: the next server tidies up, and leaves the folder of a running one alone.
  const [abandoned, alive] = [await otherServer(t, folder), await otherServer(t, folder)];
  const left = await launcherOf(abandoned.pid!);
  process.kill(left.pid, 'SIGSTOP');
  abandoned.kill('SIGKILL');
  await once(abandoned, 'exit');
  process.kill(left.pid, 'SIGKILL');
  assert.ok(existsSync(left.folder));
  const next = await otherServer(t, folder);
  const present = [await launcherOf(alive.pid!), await launcherOf(next.pid!)].map((one) => path.basename(one.folder));
  assert.deepEqual((await readdir(folder)).sort(), present.sort());
});

test('the process that starts git removes its own socket only, whatever its address is', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-launcher-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, 'other'), '');
  const program = fileURLToPath(new URL('launcher_process.ts', import.meta.url));
  const child = spawn(process.execPath, [program, path.join(folder, 'launcher')], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end();
  await once(child, 'exit');
  assert.deepEqual(await readdir(folder), ['other']);
});
