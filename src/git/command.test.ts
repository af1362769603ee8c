import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { commitTo, put, temporaryRepository } from '../../test/support/bare_repository.ts';
import { argumentsOf, GitError, git, gitStream } from './command.ts';

test('git cannot read a value from a user as an option', async (t) => {
  const repository = await temporaryRepository(t);
  assert.deepEqual(argumentsOf(repository, 'log', ['--format=%H'], ['--output=/tmp/x'], ['-p']), [
    `--git-dir=${repository.path}`,
    'log',
    '--format=%H',
    '--end-of-options',
    '--output=/tmp/x',
    '--',
    '-p',
  ]);
  await assert.rejects(git(repository, 'log', [], ['--output=/tmp/x']), { name: 'GitError', exit_code: 128 });
  await assert.rejects(git(repository, 'blame', [], ['--contents=/etc/passwd'], ['x']), {
    name: 'GitError',
    exit_code: 129,
  });
});

test('a path is literal, whatever patterns it looks like', async (t) => {
  const repository = await temporaryRepository(t);
  const id = await commitTo(repository, {
    changes: [put('a.txt', 'a'), put('*.txt', 'star'), put(':(top)b', 'magic')],
  });
  const listed = async (path: string) =>
    (await git(repository, 'ls-tree', ['--name-only', '-z'], [id], [path])).toString();
  assert.equal(await listed('*.txt'), '*.txt\0');
  assert.equal(await listed(':(top)b'), ':(top)b\0');
});

test('a failure says what git said, and output over the limit is one', async (t) => {
  const repository = await temporaryRepository(t);
  await assert.rejects(git(repository, 'cat-file', [], ['blob', '0'.repeat(40)]), (error) => {
    assert.ok(error instanceof GitError);
    assert.equal(error.exit_code, 128);
    assert.match(error.stderr, /fatal/);
    return true;
  });
  const id = await commitTo(repository, { changes: [put('a', 'x'.repeat(1000))] });
  await assert.rejects(git(repository, 'show', [], [`${id}:a`], [], { limit: 999 }), /more than 999 bytes/);
  assert.equal((await git(repository, 'show', [], [`${id}:a`], [], { limit: 1000 })).length, 1000);
});

test('a command ends with its time or with the request it was for', async (t) => {
  const repository = await temporaryRepository(t);
  const read = (file: string, run: object) => git(repository, 'hash-object', [], [], [file], run);
  await assert.rejects(read('/dev/null', { signal: AbortSignal.abort() }), { name: 'AbortError' });
  // A file without end.
  await assert.rejects(read('/dev/zero', { timeout_ms: 20 }), /took longer than 20 ms/);
});

test('many commands at once all get their turn', async (t) => {
  const repository = await temporaryRepository(t);
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => git(repository, 'rev-parse', ['--is-bare-repository'])),
  );
  assert.ok(answers.every((answer) => answer.toString() === 'true\n'));
});

test('a stream gives the whole output, ends with the error of git, and can be given up', async (t) => {
  const repository = await temporaryRepository(t);
  const content = Buffer.alloc(3_000_000, 'abcdefg\n');
  const id = await commitTo(repository, { changes: [put('big', content)] });
  assert.ok(
    content.equals(
      Buffer.concat(await gitStream(repository, 'show', [], [`${id}:big`], [], { reader: 'server' }).toArray()),
    ),
  );
  await assert.rejects(
    gitStream(repository, 'show', [], [`${id}:small`], [], { reader: 'server' }).toArray(),
    GitError,
  );

  const given_up = gitStream(repository, 'show', [], [`${id}:big`], [], { reader: 'server' });
  await once(given_up, 'readable');
  given_up.destroy();
  await once(given_up, 'close');
});
