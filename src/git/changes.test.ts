import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commitTo, put, temporaryRepository } from '../../test/support/bare_repository.ts';
import { runs } from '../../test/support/runs.ts';
import { changedFiles } from './changes.ts';
import { type Change, type Repository, writeTreeCommit } from './index.ts';

/** As the product finds the changes, and as git does. */
async function compare(repository: Repository, from: string | null, to: string): Promise<number> {
  for (const renames of [true, false]) {
    const range = { from, to, renames };
    assert.deepEqual(await changedFiles(repository, range), await changedFiles(repository, { ...range, env: {} }));
  }
  return (await changedFiles(repository, { from, to })).length;
}

test('changes are what git finds, whatever they are', async (t) => {
  const repository = await temporaryRepository(t);
  const steps: Change[][] = [
    [
      put('a.txt', 'one\n'),
      put('folder/b.txt', 'two\n'),
      put('folder/deep/c.txt', 'three\n'),
      put('folder-x', 'four\n'),
    ],
    [put('a.txt', 'changed\n')],
    [put('folder/é.txt', 'new\n'), put('folder/deep/c.txt', 'new\n')],
    [{ op: 'mode', path: 'a.txt', mode: '100755' }],
    [{ op: 'delete', path: 'folder/deep/c.txt' }],
    [{ op: 'move', from: 'a.txt', path: 'folder/a.txt' }],
    [{ op: 'move', from: 'folder/a.txt', path: 'z.txt', content: Buffer.from('x') }],
    [{ op: 'delete', path: 'folder-x' }, put('folder-x/inside', 'x')],
    Array.from({ length: 30 }, (_, number) => put(`many/${number}`, `${number}`)),
    [],
  ];
  let parent: string | null = null;
  const ids: string[] = [];
  for (const changes of steps) {
    parent = await commitTo(repository, { parent, changes });
    ids.push(parent);
  }
  for (const [index, id] of ids.entries()) {
    await compare(repository, ids[index - 1] ?? null, id);
    await compare(repository, ids[0]!, id);
    await compare(repository, id, ids[0]!);
  }
  const person = { name: 'Ada', email: 'ada@example.com', date: new Date() };
  const tree_id = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  const empty = await writeTreeCommit(repository, {
    tree_id,
    parent_ids: [],
    message: '',
    author: person,
    committer: person,
  });
  assert.equal(await compare(repository, ids[1]!, empty), 4);
  assert.equal(await compare(repository, empty, empty), 0);
});

const path = fc.constantFrom('a', 'a-b', 'a.b', 'a/b', 'a/c', 'a0', 'b/c/d', 'b/c/e', 'b/f');

test('changes are what git finds, in random trees', async (t) => {
  const repository = await temporaryRepository(t);
  let count = 0;
  const commit = async (files: Record<string, string>) => {
    const changes = Object.entries(files).map(([name, text]) => put(name, text));
    // A file cannot be where the others need a folder.
    const fitting = changes.filter(({ path: name }) => !changes.some((other) => other.path.startsWith(`${name}/`)));
    return commitTo(repository, { branch: `b${count++}`, changes: fitting });
  };
  const files = fc.dictionary(path, fc.constantFrom('1\n', '2\n', '3\n'));
  await fc.assert(
    fc.asyncProperty(files, files, async (before, after) => {
      await compare(repository, await commit(before), await commit(after));
    }),
    { numRuns: runs(30, 1000) },
  );
});
