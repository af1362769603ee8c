import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commitTo, put, temporaryRepository, userGit } from '../../test/support/bare_repository.ts';
import { listTree, readCommit } from './index.ts';

test('a folder is listed alone or recursively, folders first', async (t) => {
  const repository = await temporaryRepository(t);
  const id = await commitTo(repository, {
    changes: [put('b', '1'), put('a.b', '2'), put('a/x', '3'), put('a/c/y', '4'), put('ä\n', '5')],
  });
  const { tree_id } = await readCommit(repository, id);
  const flat = await listTree(repository, tree_id);
  assert.deepEqual(
    flat.entries(0, 10).map(({ path, type }) => [path, type]),
    [
      ['a', 'tree'],
      ['a.b', 'blob'],
      ['b', 'blob'],
      ['ä\n', 'blob'],
    ],
  );
  const deep = await listTree(repository, tree_id, { is_recursive: true });
  assert.deepEqual(
    deep.entries(0, 10).map(({ path }) => path),
    ['a', 'a/c', 'a.b', 'a/c/y', 'a/x', 'b', 'ä\n'],
  );
  assert.deepEqual(
    deep.entries(3, 4).map(({ name, mode }) => [name, mode]),
    [['y', '100644']],
  );
  const plain = await userGit(repository.path, 'ls-tree', '-r', '-t', '-z', id);
  assert.equal(plain.split('\0').length - 1, deep.length);
});

test('a cursor continues after its entry, even if the entry is deleted', async (t) => {
  const repository = await temporaryRepository(t);
  const first = await commitTo(repository, {
    changes: ['a/x', 'a/y', 'a.b', 'a-b/z', 'b'].map((path) => put(path, path)),
  });
  const before = await listTree(repository, (await readCommit(repository, first)).tree_id, { is_recursive: true });
  for (let position = 0; position < before.length; position++)
    assert.equal(before.positionAfter(before.cursorOf(position)), position + 1);

  const cursor = before.cursorOf(before.entries(0, 10).findIndex(({ path }) => path === 'a/x'));
  const second = await commitTo(repository, { parent: first, changes: [{ op: 'delete', path: 'a/x' }] });
  const after = await listTree(repository, (await readCommit(repository, second)).tree_id, { is_recursive: true });
  const position = after.positionAfter(cursor)!;
  assert.deepEqual(
    after.entries(position, 10).map(({ path }) => path),
    ['a/y', 'b'],
  );
  assert.equal(after.positionAfter('§'), undefined);
  assert.equal(after.positionAfter('YWJj'), undefined);
});
