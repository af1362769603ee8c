import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { temporaryRepository } from '../../test/support/bare_repository.ts';
import { git } from './command.ts';
import { type GitProcess, launch } from './launcher.ts';

const env = { PATH: process.env.PATH! };

/** A git that waits for its input. */
const waiting = (): Promise<GitProcess> => launch({ args: ['hash-object', '--stdin'], env, streams: ['stdin'] });

/** The process that starts git for this one. */
async function launcherOf({ pid }: NodeJS.Process): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ');
  for (const child of children)
    if ((await readFile(`/proc/${child}/cmdline`, 'utf8')).includes('launcher_process')) return Number(child);
  throw new Error('there is none');
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

test('git that is told to stop ends, and is reported without an exit code', async () => {
  const process = await waiting();
  process.stdout.resume();
  process.kill('SIGTERM');
  assert.deepEqual(await process.ended, { code: null, stderr: '' });
});

test('many short processes at once all end with their own output', async () => {
  const texts = Array.from({ length: 200 }, (_, number) => `number ${number}`);
  const echoed = await Promise.all(
    texts.map(async (name) => {
      const { stdout, ended } = await launch({ args: ['check-ref-format', '--normalize', `a/${name.replace(' ', '-')}`], env });
      const [output, { code }] = await Promise.all([text(stdout), ended]);
      return [output, code];
    }),
  );
  assert.deepEqual(
    echoed,
    texts.map((name) => [`a/${name.replace(' ', '-')}\n`, 0]),
  );
});

test('when the process that starts git is killed, what it started fails, and the next git runs', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const repository = await temporaryRepository(t);
  const lost = await waiting();
  lost.stdout.resume();
  process.kill(await launcherOf(process), 'SIGKILL');
  assert.deepEqual(await lost.ended, { code: null, stderr: 'the process that starts git has ended' });
  assert.equal(String(await git(repository, 'rev-parse', ['--is-bare-repository'])), 'true\n');
});
