import assert from 'node:assert/strict';
import { test } from 'node:test';
import { put, someone, temporaryRepository, userGit } from '../../test/support/bare_repository.ts';
import {
  fetchCommit,
  GitError,
  git,
  mergeTrees,
  type Repository,
  readCommit,
  updateRefs,
  writeCommit,
  writeTreeCommit,
} from './index.ts';

type Changes = Parameters<typeof writeCommit>[1]['changes'];

/** The commit and its tree that changes make of a parent. */
async function made(
  repository: Repository,
  parent: string | null,
  changes: Changes,
): Promise<{ id: string; tree_id: string }> {
  return writeCommit(repository, { parent, message: 'A change', author: someone, committer: someone, changes });
}

const listing = async (repository: Repository, tree_id: string) =>
  (await git(repository, 'ls-tree', ['-r', '--format=%(path)'], [tree_id])).toString();

for (const format of ['sha1', 'sha256'] as const)
  test(`changes that do not meet are merged, and files are followed where they went, with ${format}`, async (t) => {
    const repository = await temporaryRepository(t, format);
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}\n`);
    const base = await made(repository, null, [put('text', lines.join('')), put('other', 'x')]);
    const ours = await made(repository, base.id, [{ op: 'move', from: 'text', path: 'docs/text' }]);
    const theirs = await made(repository, base.id, [
      put('text', lines.with(3, 'changed\n').join('')),
      put('added', 'y'),
    ]);
    const trees = { base: base.tree_id, ours: ours.tree_id, theirs: theirs.tree_id };
    const merged = await mergeTrees(repository, trees);
    assert.equal(await listing(repository, merged!), 'added\ndocs/text\nother\n');
    const text = await git(repository, 'cat-file', ['-p'], [`${merged}:docs/text`]);
    assert.equal(text.toString(), lines.with(3, 'changed\n').join(''));
    assert.equal(await mergeTrees(repository, trees), merged);

    const id = await writeTreeCommit(repository, {
      tree_id: merged!,
      parent_ids: [ours.id, theirs.id],
      message: 'Both',
      author: someone,
      committer: someone,
    });
    const commit = await readCommit(repository, id);
    assert.deepEqual([commit.tree_id, commit.parent_ids], [merged, [ours.id, theirs.id]]);
    await updateRefs(repository, [{ ref: 'refs/heads/main', old: null, new: id }]);
    assert.equal(await userGit(repository.path, 'fsck', '--strict', '--no-dangling'), '');
  });

test('conflicting changes are not merged, and a tree merged with its own past stays the same', async (t) => {
  const repository = await temporaryRepository(t);
  const base = await made(repository, null, [put('a', '1\n')]);
  const two = await made(repository, base.id, [put('a', '2\n')]);
  const three = await made(repository, base.id, [put('a', '3\n')]);
  assert.equal(
    await mergeTrees(repository, { base: base.tree_id, ours: two.tree_id, theirs: three.tree_id }),
    undefined,
  );
  assert.equal(
    await mergeTrees(repository, { base: base.tree_id, ours: two.tree_id, theirs: base.tree_id }),
    two.tree_id,
  );
  assert.equal(
    await mergeTrees(repository, { base: base.tree_id, ours: two.tree_id, theirs: two.tree_id }),
    two.tree_id,
  );
  const emptied = await mergeTrees(repository, { base: base.tree_id, ours: base.tree_id, theirs: null });
  assert.equal(await listing(repository, emptied!), '');
  assert.equal(await mergeTrees(repository, { base: null, ours: emptied!, theirs: two.tree_id }), two.tree_id);
  const none = 'ab'.repeat(20);
  await assert.rejects(mergeTrees(repository, { base: base.tree_id, ours: none, theirs: two.tree_id }), GitError);
});

test('a commit is brought over from another repository, whether or not a branch names it', async (t) => {
  const [source, target] = [await temporaryRepository(t), await temporaryRepository(t)];
  const first = await made(source, null, [put('a', '1\n')]);
  const second = await made(source, first.id, [put('b', '2\n')]);
  await fetchCommit(source, target, second.id);
  assert.deepEqual((await readCommit(target, second.id)).parent_ids, [first.id]);
  assert.equal(await listing(target, second.tree_id), 'a\nb\n');
  assert.equal((await git(target, 'for-each-ref', [])).toString(), '');
  await assert.rejects(fetchCommit(source, target, 'ab'.repeat(20)), GitError);
});
