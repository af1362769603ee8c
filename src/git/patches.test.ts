import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { commitTo, put, someone, temporaryRepository } from '../../test/support/bare_repository.ts';
import { type Change, changedFiles, git, patchesOf, type Repository, writeTreeCommit } from './index.ts';

const limits = { patch_bytes: 10_000, total_bytes: 100_000_000 };

async function patchesByPath(repository: Repository, from: string | null, to: string, some = limits) {
  const files = await changedFiles(repository, { from, to, renames: true });
  const patches = await patchesOf(repository, { from, to }, files, some);
  assert.equal(patches.length, files.length);
  return Object.fromEntries(files.map(({ path }, index) => [path, patches[index]!]));
}

const whole = (hunks: string) => ({ hunks, state: 'whole' });
const remove = (path: string): Change => ({ op: 'delete', path });

test('every kind of change has its hunks', async (t) => {
  const repository = await temporaryRepository(t);
  const body = Array.from({ length: 20 }, (_, index) => `line ${index}\n`).join('');
  const first = await commitTo(repository, {
    changes: [
      put('changed', 'one\n'),
      put('gone', 'x'),
      put('mode', 'm\n'),
      put('moved', body),
      put('same', 'same\n'),
      put('binary', Buffer.from([0, 1])),
      put('turns', 'into a folder\n'),
    ],
  });
  const second = await commitTo(repository, {
    parent: first,
    changes: [
      put('changed', 'two\n@@ -1 +1 @@\ndiff --git a/x b/x\n'),
      remove('gone'),
      { op: 'mode', path: 'mode', mode: '100755' },
      { op: 'move', from: 'moved', path: 'to/moved', content: Buffer.from(`${body}more\n`) },
      { op: 'move', from: 'same', path: 'to/same' },
      put('binary', Buffer.from([0, 2])),
      put('empty', ''),
      put('--option', 'o\n'),
      put('*', 'star\n'),
      remove('turns'),
      put('turns/inside', 'i\n'),
    ],
  });
  assert.deepEqual(await patchesByPath(repository, first, second), {
    '*': whole('@@ -0,0 +1 @@\n+star\n'),
    '--option': whole('@@ -0,0 +1 @@\n+o\n'),
    binary: { hunks: 'Binary files a/binary and b/binary differ\n', state: 'binary' },
    changed: whole('@@ -1 +1,3 @@\n-one\n+two\n+@@ -1 +1 @@\n+diff --git a/x b/x\n'),
    empty: whole(''),
    gone: whole('@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n'),
    mode: whole(''),
    'to/moved': whole('@@ -18,3 +18,4 @@ line 16\n line 17\n line 18\n line 19\n+more\n'),
    'to/same': whole(''),
    turns: whole('@@ -1 +0,0 @@\n-into a folder\n'),
    'turns/inside': whole('@@ -0,0 +1 @@\n+i\n'),
  });
  const all = await patchesByPath(repository, null, first);
  assert.deepEqual(all.changed, whole('@@ -0,0 +1 @@\n+one\n'));
});

test('a patch that is too long is left out without those around it, and behind the limit of all nothing is read', async (t) => {
  const repository = await temporaryRepository(t);
  const text = (bytes: number) => `${randomBytes(bytes / 2).toString('hex')}\n`;
  const changes = [
    put('a', 'a\n'),
    put('b', text(6_000_000)),
    put('c', text(12_000)),
    put('d', 'd\n'),
    put('e', text(6_000_000)),
    put('f', 'f\n'),
  ];
  const commit = await commitTo(repository, { changes });
  const states = (patches: Record<string, { state: string }>) => Object.values(patches).map(({ state }) => state);
  const patches = await patchesByPath(repository, null, commit);
  assert.deepEqual(states(patches), ['whole', 'too_large', 'too_large', 'whole', 'too_large', 'whole']);
  assert.equal(patches.f!.hunks, '@@ -0,0 +1 @@\n+f\n');
  const few = await patchesByPath(repository, null, commit, { ...limits, total_bytes: 1_000_000 });
  assert.deepEqual(states(few), ['whole', 'too_large', 'left_out', 'left_out', 'left_out', 'left_out']);
});

test('hundreds of files are compared, however git is called for it', async (t) => {
  const repository = await temporaryRepository(t);
  const changes = Array.from({ length: 250 }, (_, index) => put(`${index}`, `${index}\n`));
  const commit = await commitTo(repository, { changes });
  const patches = await patchesByPath(repository, null, commit);
  for (let index = 0; index < 250; index++) assert.equal(patches[index]!.hunks, `@@ -0,0 +1 @@\n+${index}\n`);
});

test('a link that becomes a file is removed and added in one patch', async (t) => {
  const repository = await temporaryRepository(t);
  const first = await commitTo(repository, { changes: [put('a', 'a\n'), put('z', 'z\n')] });
  // A commit that only git's own tools write: the API makes no links.
  const link = (await git(repository, 'hash-object', ['-w', '--stdin'], [], [], { input: 'a' })).toString().trim();
  const tree = (await git(repository, 'mktree', ['-z'], [], [], { input: `120000 blob ${link}\ta\0` }))
    .toString()
    .trim();
  const patches = await patchesByPath(repository, first, tree);
  assert.equal(patches.a!.hunks, '@@ -1 +0,0 @@\n-a\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n');
  assert.equal(patches.z!.hunks, '@@ -1 +0,0 @@\n-z\n');
});

/** A commit of files whose names are given by their bytes, as latin1. */
async function commitWith(repository: Repository, files: Record<string, string>): Promise<string> {
  const lines = [];
  for (const [name, input] of Object.entries(files)) {
    const id = (await git(repository, 'hash-object', ['-w', '--stdin'], [], [], { input })).toString().trim();
    lines.push(`100644 blob ${id}\t${name}\0`);
  }
  const tree = await git(repository, 'mktree', ['-z'], [], [], { input: Buffer.from(lines.join(''), 'latin1') });
  return writeTreeCommit(repository, {
    tree_id: tree.toString().trim(),
    parent_ids: [],
    message: 'x',
    author: someone,
    committer: someone,
  });
}

test('files whose names are not UTF-8 have their patches, also those that look the same', async (t) => {
  const repository = await temporaryRepository(t);
  const first = await commitWith(repository, {
    'caf\xe9': 'one\n',
    'caf\xe8': 'uno\n',
    '[\xe9?\x82\xa0': 'a\n',
    cafe: '1\n',
  });
  const second = await commitWith(repository, {
    'caf\xe9': 'two\n',
    'caf\xe8': 'due\n',
    '\xff\xfe\xfd': 'b\n',
    cafe: '2\n',
  });
  const files = (await changedFiles(repository, { from: first, to: second })).filter(({ path }) => path !== 'cafe');
  const patches = await patchesOf(repository, { from: first, to: second }, files, limits);
  assert.deepEqual(
    files.map(({ path }, index) => [path, patches[index]!.hunks]),
    [
      ['[\ufffd?\ufffd\ufffd', '@@ -1 +0,0 @@\n-a\n'],
      ['caf\ufffd', '@@ -1 +1 @@\n-uno\n+due\n'],
      ['caf\ufffd', '@@ -1 +1 @@\n-one\n+two\n'],
      ['\ufffd\ufffd\ufffd', '@@ -0,0 +1 @@\n+b\n'],
    ],
  );
  const [, , last] = files;
  assert.deepEqual(await patchesOf(repository, { from: first, to: second }, [last!], limits), [patches[2]]);
});
