import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { commitTo, put, temporaryRepository, userGit } from '../../test/support/bare_repository.ts';
import { runs } from '../../test/support/runs.ts';
import { GitError, git, gitLoad } from './command.ts';
import { allRefs, plantRefs } from './copies.ts';
import { readRef, refsBelow } from './ref_store.ts';
import { isEmpty, listBranches, listTags, RefConflict, RefMoved, updateRefs } from './refs.ts';
import type { Repository } from './types.ts';

/** The refs as git lists them. */
async function shownByGit(repository: Repository): Promise<string[]> {
  const output = await git(repository, 'for-each-ref', ['--format=%(objectname) %(refname)']);
  return output.toString().split('\n').slice(0, -1);
}

const shownHere = async (repository: Repository): Promise<string[]> =>
  Array.from(await allRefs(repository), ([ref, id]) => `${id} ${ref}`);

const names = ['a', 'a/b', 'a/b/c', 'a-b', 'b', 'Z', 'ü/x', 'a.b', 'x.', 'lock'];

/** Steps of a history: a ref is created, moved or deleted here or by git, all are packed, or one becomes symbolic. */
const step = fc.record({
  how: fc.constantFrom('here', 'git', 'delete', 'pack', 'link', 'folder'),
  kind: fc.constantFrom('heads', 'tags', 'notes'),
  name: fc.constantFrom(...names),
  target: fc.integer({ min: 0, max: 2 }),
});

test('refs are what git says they are, whatever has happened to them', async (t) => {
  const histories = fc.sample(fc.array(step, { minLength: 5, maxLength: 25 }), { numRuns: runs(6, 100), seed: 11 });
  for (const [index, steps] of histories.entries()) {
    const repository = await temporaryRepository(t, index % 2 ? 'sha256' : 'sha1');
    await git(repository, 'config', [], ['core.fsync', 'none']);
    const ids: string[] = [];
    for (const name of ['1', '2'])
      ids.push(await commitTo(repository, { parent: ids.at(-1) ?? null, changes: [put(name, name)] }));
    await userGit(repository.path, 'tag', '-a', '-m', 'annotated', 'annotated');
    ids.push((await userGit(repository.path, 'rev-parse', 'annotated')).trim());
    for (const { how, kind, name, target } of steps) {
      const ref = `refs/${kind}/${name}`;
      const now = (await allRefs(repository)).get(ref) ?? null;
      const id = kind === 'heads' ? ids[target % 2]! : ids[target]!;
      const isValid = (await userGit(repository.path, 'check-ref-format', ref).catch(() => 'no')) === '';
      if (how === 'here' && isValid) {
        await updateRefs(repository, [{ ref, old: now, new: id }]).catch((error) => {
          // Beside a symbolic ref that leads nowhere git refuses in words only.
          assert.ok(error instanceof RefConflict || error instanceof GitError, error);
        });
      } else if (how === 'git') await userGit(repository.path, 'update-ref', ref, id).catch(() => {});
      else if (how === 'delete') await userGit(repository.path, 'update-ref', '-d', ref).catch(() => {});
      else if (how === 'pack') await userGit(repository.path, 'pack-refs', '--all');
      else if (how === 'link') await userGit(repository.path, 'symbolic-ref', ref, 'refs/heads/b').catch(() => {});
      else await mkdir(join(repository.path, ref), { recursive: true }).catch(() => {});
      assert.deepEqual(await shownHere(repository), await shownByGit(repository), JSON.stringify(steps));
    }
  }
});

test('a folder whose date says that nothing has changed is not read again, and every change of git is seen', async (t) => {
  const repository = await temporaryRepository(t);
  const ids: string[] = [];
  for (const name of ['1', '2'])
    ids.push(await commitTo(repository, { parent: ids.at(-1) ?? null, changes: [put(name, name)] }));
  await userGit(repository.path, 'branch', 'topic/one', ids[0]!);
  // Git never writes into the file of a ref; only so does it show that the file was not read.
  const file = join(repository.path, 'refs/heads/topic/one');
  const isKept = async () => {
    const shown = async () => (await refsBelow(repository, 'refs/heads/topic/'))[0]!.id;
    const before = await shown();
    await writeFile(file, `${ids[1]}\n`);
    // The folder may have become old enough since `before`; then it is kept with this content.
    const after = await shown();
    await writeFile(file, `${ids[0]}\n`);
    return after === before;
  };
  let ahead_ms = 0;
  const now = Date.now.bind(Date);
  t.mock.method(Date, 'now', () => now() + ahead_ms);
  assert.ok(!(await isKept()), 'it is too young');
  ahead_ms = 1000;
  assert.ok(await isKept());
  assert.equal(
    await refsBelow(repository, 'refs/heads/topic/'),
    await refsBelow(repository, 'refs/heads/topic/'),
    'merged once',
  );
  const changes = [
    ['update-ref', 'refs/heads/topic/one', ids[1]!],
    ['branch', 'topic/two', ids[0]!],
    ['branch', 'topic/three/four', ids[0]!],
    ['symbolic-ref', 'refs/heads/topic/two', 'refs/heads/main'],
    ['pack-refs', '--all'],
    ['branch', '-D', 'topic/one'],
    ['update-ref', 'refs/heads/topic/three/four', ids[1]!],
  ];
  for (const change of changes) {
    await userGit(repository.path, ...change);
    ahead_ms = 0;
    assert.deepEqual(await shownHere(repository), await shownByGit(repository), change.join(' '));
    ahead_ms = 1000; // what it lists now is kept
    assert.deepEqual(await shownHere(repository), await shownByGit(repository), change.join(' '));
  }
});

test('a ref never disappears from a list while git packs it and others move it', async (t) => {
  const repository = await temporaryRepository(t);
  await git(repository, 'config', [], ['core.fsync', 'none']);
  const ids: string[] = [];
  for (const name of ['1', '2'])
    ids.push(await commitTo(repository, { parent: ids.at(-1) ?? null, changes: [put(name, name)] }));
  const refs = Array.from({ length: 20 }, (_, index) => `refs/heads/${index % 2 ? 'deep/er/' : ''}${index}`);
  await updateRefs(
    repository,
    refs.map((ref) => ({ ref, old: null, new: ids[0]! })),
  );
  let isOver = false;
  const writing = (async () => {
    for (let turn = 0; turn < 20; turn++) {
      await git(repository, 'pack-refs', ['--all']).catch(() => {}); // It gives way to a lock.
      const [old, next] = [ids[turn % 2]!, ids[(turn + 1) % 2]!];
      for (const ref of refs.slice(0, 6)) await updateRefs(repository, [{ ref, old, new: next }]);
    }
    isOver = true;
  })();
  while (!isOver) {
    const found = new Set((await refsBelow(repository, 'refs/heads/')).map(({ ref }) => ref));
    assert.deepEqual(
      refs.filter((ref) => !found.has(ref)),
      [],
    );
    await nextTurn();
  }
  await writing;
});

test('only one of many concurrent creations of a branch succeeds, and no ref is created inside another', async (t) => {
  const repository = await temporaryRepository(t);
  const id = await commitTo(repository, { changes: [put('a', 'a')] });
  const create = (ref: string) => updateRefs(repository, [{ ref: `refs/heads/${ref}`, old: null, new: id }]);
  const before = gitLoad().started;
  await create('deep/er/one');
  assert.equal(gitLoad().started, before);
  const same = await Promise.allSettled(Array.from({ length: 6 }, () => create('same')));
  assert.equal(same.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const attempt of same) if (attempt.status === 'rejected') assert.ok(attempt.reason instanceof RefMoved);
  const nested = await Promise.allSettled(['x', 'x/y', 'x/y/z', 'x', 'x/y'].map(create));
  assert.equal(nested.filter(({ status }) => status === 'fulfilled').length, 1);

  for (const isPacked of [false, true]) {
    if (isPacked) await git(repository, 'pack-refs', ['--all']);
    for (const name of ['deep', 'deep/er', 'deep/er/one/more']) await assert.rejects(create(name), RefConflict);
    await assert.rejects(create('same'), RefMoved);
  }
  await assert.rejects(updateRefs(repository, [{ ref: 'refs/heads/tree', old: null, new: '1'.repeat(40) }]), GitError);
  // A folder that a deleted branch has left is no obstacle.
  await mkdir(join(repository.path, 'refs/heads/left/over'), { recursive: true });
  await create('left');
  assert.equal(await readRef(repository, 'refs/heads/left'), id);
  assert.deepEqual(await shownHere(repository), await shownByGit(repository));
});

test('what git cannot read as a ref is none, and a link does not lead out of the repository', async (t) => {
  const repository = await temporaryRepository(t);
  assert.equal(await isEmpty(repository), true);
  const id = await commitTo(repository, { changes: [put('a', 'a')] });
  assert.equal(await isEmpty(repository), false);
  const file = (name: string, content: string) => writeFile(join(repository.path, name), content);
  await git(repository, 'pack-refs', ['--all']);
  await updateRefs(repository, [{ ref: 'refs/heads/hidden', old: null, new: id }]);
  await git(repository, 'pack-refs', ['--all']);
  await file('secret', `${id}\n`);
  await file('refs/heads/hidden', '');
  await file('refs/heads/out', 'ref: ../secret\n');
  await file('refs/heads/up', 'ref: refs/../secret\n');
  await file('refs/heads/nowhere', 'ref: refs/heads/none\n');
  await file('refs/heads/circle', 'ref: refs/heads/circle\n');
  await file('refs/heads/zero', `${'0'.repeat(40)}\n`);
  await file('refs/heads/~odd', `${id}\n`);
  await file('refs/heads/main.lock', `${id}\n`);
  await file('refs/heads/link', 'ref:  refs/heads/main \n');
  assert.deepEqual(await shownHere(repository), await shownByGit(repository));
  assert.deepEqual(
    (await listBranches(repository)).map(({ name }) => name),
    ['link', 'main'],
  );

  await file('packed-refs', 'nothing\n');
  await assert.rejects(listTags(repository), /unexpected line in the packed-refs/);
  await rm(join(repository.path, 'refs/heads'), { recursive: true });
  await file('refs/heads', 'this repository uses the reftable format\n');
  await assert.rejects(listBranches(repository), /keeps its refs in a reftable/);
  await rm(repository.path, { recursive: true });
  await assert.rejects(listBranches(repository), GitError);
});

test('a hundred thousand refs are listed in turns, and read once', async (t) => {
  const repository = await temporaryRepository(t);
  const id = await commitTo(repository, { changes: [put('a', 'a')] });
  const many = Array.from({ length: 100_000 }, (_, index) => [`refs/heads/topic/${index}`, id] as const);
  await plantRefs(repository, new Map(many));
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  assert.equal((await listBranches(repository)).length, many.length + 1);
  isOver = true;
  assert.ok(turns > 5, `${turns} turns`);
  const before = gitLoad().started;
  assert.equal((await refsBelow(repository, 'refs/heads/topic/')).length, many.length);
  assert.equal(gitLoad().started, before);
});
