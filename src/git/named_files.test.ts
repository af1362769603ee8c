import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commitTo, put, temporaryRepository } from '../../test/support/bare_repository.ts';
import { git, NamedFiles, readCommit } from './index.ts';

const isLock = (name: string) => name.endsWith('.lock');

test('files are found by their names in all folders, in the order of their paths', async (t) => {
  const repository = await temporaryRepository(t);
  const files = new NamedFiles(isLock);
  const found = async (commit_id: string) => {
    const { tree_id } = await readCommit(repository, commit_id);
    return (await files.in(repository, tree_id, 1_000)).map(({ path }) => path);
  };
  const changes = ['z.lock', 'a/b/y.lock', 'a/b.lock', 'a/ü.lock', 'a/README', 'plain/README', 'x.lock/README'].map(
    (path) => put(path, path),
  );
  const first = await commitTo(repository, { changes });
  assert.deepEqual(await found(first), ['a/b.lock', 'a/b/y.lock', 'a/ü.lock', 'z.lock']);

  const second = await commitTo(repository, {
    parent: first,
    changes: [put('plain/n.lock', '1'), { op: 'delete', path: 'a/b/y.lock' }],
  });
  assert.deepEqual(await found(second), ['a/b.lock', 'a/ü.lock', 'plain/n.lock', 'z.lock']);
  assert.deepEqual(await found(first), ['a/b.lock', 'a/b/y.lock', 'a/ü.lock', 'z.lock']);
});

test('a folder that holds another one many times is read once, and its paths are cut', async (t) => {
  const repository = await temporaryRepository(t);
  const tree = async (...lines: string[]) =>
    (await git(repository, 'mktree', [], [], [], { input: `${lines.join('\n')}\n` })).toString().trim();
  const { tree_id } = await readCommit(repository, await commitTo(repository, { changes: [put('a.lock', '1')] }));
  let top = tree_id;
  for (let level = 0; level < 20; level++)
    top = await tree(...['a', 'b', 'c', 'd'].map((name) => `040000 tree ${top}\t${name}`));
  const files = await new NamedFiles(isLock).in(repository, top, 1_000);
  assert.ok(files.length > 100 && files.length < 1_000);
  assert.equal(files[0]!.path, `${'a/'.repeat(20)}a.lock`);
});
