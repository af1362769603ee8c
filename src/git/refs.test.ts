import assert from 'node:assert/strict';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { commitTo, put, someone, temporaryRepository, userGit } from '../../test/support/bare_repository.ts';
import { runs } from '../../test/support/runs.ts';
import {
  allRefs,
  GitError,
  git,
  gitLoad,
  headBranch,
  isAncestor,
  isValidBranchName,
  keepAroundRef,
  listBranches,
  listTags,
  mergeBase,
  RefConflict,
  RefMoved,
  reachableFrom,
  readCommit,
  readTag,
  refsContaining,
  resolveBranch,
  resolveCommit,
  resolveTag,
  setHead,
  setKeptRefs,
  updateRefs,
  writeCommit,
  writeTag,
} from './index.ts';

test('exactly one of many concurrent updates of a branch wins, and the others fail with RefMoved', async (t) => {
  const repository = await temporaryRepository(t);
  const base = await commitTo(repository, { changes: [put('a', 'base')] });
  const commits = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      writeCommit(repository, {
        parent: base,
        message: `${index}`,
        author: someone,
        committer: someone,
        changes: [put('a', `${index}`)],
      }),
    ),
  );
  const attempts = await Promise.allSettled(
    commits.map(({ id }) => updateRefs(repository, [{ ref: 'refs/heads/main', old: base, new: id }])),
  );
  const winners = attempts.flatMap((attempt, index) => (attempt.status === 'fulfilled' ? [commits[index]!.id] : []));
  assert.deepEqual(winners, [await resolveBranch(repository, 'main')]);
  for (const attempt of attempts) {
    if (attempt.status === 'rejected') assert.ok(attempt.reason instanceof RefMoved, String(attempt.reason));
  }
});

test('several refs move together or not at all', async (t) => {
  const repository = await temporaryRepository(t);
  const one = await commitTo(repository, { changes: [put('a', '1')] });
  const two = await commitTo(repository, { parent: one, changes: [put('a', '2')] });
  const create = (ref: string) => ({ ref, old: null, new: one });
  await updateRefs(repository, [create('refs/heads/x'), create('refs/tags/x')]);

  await assert.rejects(
    updateRefs(repository, [
      { ref: 'refs/heads/x', old: one, new: two },
      { ref: 'refs/tags/x', old: two, new: null },
      create('refs/heads/main'),
    ]),
    (error) => error instanceof RefMoved && error.refs.join() === 'refs/tags/x,refs/heads/main',
  );
  assert.equal(await resolveBranch(repository, 'x'), one);

  await updateRefs(repository, [
    { ref: 'refs/heads/x', old: one, new: null },
    { ref: 'refs/tags/x', old: one, new: two },
  ]);
  assert.deepEqual(await listBranches(repository), [{ name: 'main', commit_id: two }]);
  assert.deepEqual(await listTags(repository), [{ name: 'x', id: two }]);
});

test('a branch cannot be created inside another, and an object must exist', async (t) => {
  const repository = await temporaryRepository(t);
  const id = await commitTo(repository, { branch: 'a', changes: [put('a', '1')] });
  await git(repository, 'pack-refs', ['--all']);
  await assert.rejects(updateRefs(repository, [{ ref: 'refs/heads/a/b', old: null, new: id }]), (error) => {
    return error instanceof RefConflict && error.existing === 'refs/heads/a';
  });
  await assert.rejects(updateRefs(repository, [{ ref: 'refs/heads/b', old: null, new: '1'.repeat(40) }]), GitError);
  await assert.rejects(updateRefs(repository, [{ ref: 'refs/heads/b\0', old: null, new: id }]), GitError);
  assert.deepEqual(await listBranches(repository), [{ name: 'a', commit_id: id }]);
});

test('a name that no file can have is that of no ref', async (t) => {
  const repository = await temporaryRepository(t);
  await commitTo(repository, { branch: 'a', changes: [put('a', '1')] });
  for (const name of ['x'.repeat(300), 'x/'.repeat(3000), `${'x'.repeat(300)}/y`]) {
    assert.equal(await resolveBranch(repository, name), undefined);
    assert.equal(await resolveCommit(repository, name), undefined);
  }
});

test('the lock of a writer that died long ago is removed, a fresh one is respected', async (t) => {
  const repository = await temporaryRepository(t);
  await git(repository, 'config', [], ['core.filesRefLockTimeout', '0']);
  const id = await commitTo(repository, { changes: [put('a', '1')] });
  const lock = join(repository.path, 'refs', 'heads', 'main.lock');
  await writeFile(lock, '');
  await assert.rejects(updateRefs(repository, [{ ref: 'refs/heads/main', old: id, new: null }]), GitError);
  const yesterday = new Date(Date.now() - 24 * 60 * 60_000);
  await utimes(lock, yesterday, yesterday);
  await updateRefs(repository, [{ ref: 'refs/heads/main', old: id, new: null }]);
  assert.equal(await resolveBranch(repository, 'main'), undefined);

  const head = join(repository.path, 'HEAD.lock');
  await writeFile(head, '');
  await assert.rejects(setHead(repository, 'trunk'), GitError);
  await utimes(head, yesterday, yesterday);
  await setHead(repository, 'trunk');
  assert.equal(await headBranch(repository), 'trunk');

  const kept = keepAroundRef(id);
  const keep = join(repository.path, `${kept}.lock`);
  await mkdir(join(repository.path, 'refs/keep-around'));
  await writeFile(keep, '');
  await assert.rejects(setKeptRefs(repository, new Map([[kept, id]])), GitError);
  await utimes(keep, yesterday, yesterday);
  await setKeptRefs(repository, new Map([[kept, id]]));
  assert.equal((await allRefs(repository)).get(kept), id);
});

test('branches and tags are listed in the requested order, and a tag is read with its message', async (t) => {
  const repository = await temporaryRepository(t);
  const day = (number: number) => new Date(Date.UTC(2025, 0, number));
  const old = await commitTo(repository, { branch: 'b', date: day(1), changes: [put('a', '1')] });
  const recent = await commitTo(repository, { branch: 'c', date: day(3), changes: [put('a', '2')] });
  await commitTo(repository, { branch: 'a', date: day(2), changes: [put('a', '3')] });
  const names = async (sort: 'name' | 'updated_asc' | 'updated_desc') =>
    (await listBranches(repository, { sort })).map(({ name }) => name);
  assert.deepEqual(await names('name'), ['a', 'b', 'c']);
  assert.deepEqual(await names('updated_asc'), ['b', 'a', 'c']);
  assert.deepEqual(await names('updated_desc'), ['c', 'a', 'b']);

  for (const version of ['v1.10', 'v1.9', 'v1.2']) await userGit(repository.path, 'tag', version, old);
  await userGit(repository.path, 'tag', '-a', '-m', 'Second\n\nwith words\n', 'v2', recent);
  await userGit(repository.path, 'tag', 'tree', `${old}^{tree}`);
  const tags = await listTags(repository, { sort: 'version', order: 'desc' });
  assert.deepEqual(
    tags.map(({ name }) => name),
    ['v2', 'v1.10', 'v1.9', 'v1.2', 'tree'],
  );
  const annotated = await readTag(repository, tags[0]!);
  assert.equal(annotated.commit_id, recent);
  assert.equal(annotated.message, 'Second\n\nwith words');
  assert.equal(annotated.tagger_email, 'grace@example.com');
  assert.match(annotated.tagged_date ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/);
  const light = { message: null, tagger_name: null, tagger_email: null, tagged_date: null };
  assert.deepEqual(await readTag(repository, tags[1]!), { name: 'v1.10', id: old, commit_id: old, ...light });
  assert.equal((await readTag(repository, tags[4]!)).commit_id, null);
});

test('ancestors, merge bases and merged branches follow the graph', async (t) => {
  const repository = await temporaryRepository(t);
  const base = await commitTo(repository, { changes: [put('a', '1')] });
  const side = (
    await writeCommit(repository, {
      parent: base,
      message: 's',
      author: someone,
      committer: someone,
      changes: [put('b', '1')],
    })
  ).id;
  const main = await commitTo(repository, { parent: base, changes: [put('a', '2')] });
  const other = await commitTo(repository, { branch: 'other', changes: [put('c', '1')] });
  await updateRefs(repository, [
    { ref: 'refs/heads/side', old: null, new: side },
    { ref: 'refs/heads/base', old: null, new: base },
  ]);
  assert.equal(await isAncestor(repository, base, main), true);
  assert.equal(await isAncestor(repository, main, base), false);
  await assert.rejects(isAncestor(repository, '1'.repeat(40), base), GitError);
  assert.equal(await mergeBase(repository, [main, side]), base);
  assert.equal(await mergeBase(repository, [main, other]), undefined);
  const started = gitLoad().started;
  const asked = [base, side, other, main, '1'.repeat(40)];
  assert.deepEqual(await reachableFrom(repository, main, asked), new Set([base, main]));
  assert.equal(gitLoad().started, started + 1);
  const later = await commitTo(repository, { parent: main, changes: [put('a', '3')] });
  assert.deepEqual(await reachableFrom(repository, later, asked.slice(0, 4)), new Set([base, main]));
  assert.equal(gitLoad().started, started + 1);
});

test('thousands of branches are listed', async (t) => {
  const repository = await temporaryRepository(t);
  const id = await commitTo(repository, { changes: [put('a', '1')] });
  await git(repository, 'config', [], ['core.fsync', 'none']); // Two waits for the disk for each of them would take seconds.
  await updateRefs(
    repository,
    Array.from({ length: 1500 }, (_, index) => ({ ref: `refs/heads/topic/${index}`, old: null, new: id })),
  );
  assert.equal((await listBranches(repository)).length, 1501);
});

test('a branch name is valid when git says so', async () => {
  const known = [
    'main',
    'a/b',
    'a.b',
    'ü',
    '-a',
    'a-',
    '.a',
    'a/.b',
    'a.lock',
    'a.lock/b',
    'a..b',
    'a b',
    'a~',
    'a^',
    'a:',
    'a?',
    'a*',
    'a[',
  ];
  const more = [
    'a\\b',
    'a//b',
    '/a',
    'a/',
    'a.',
    '@',
    'a@{b',
    'a@',
    '{',
    '@/a',
    'HEAD',
    'HEAD/a',
    'a\x7f',
    'a\tb',
    'a\n',
    '',
    '.',
    '..',
    '.lock',
  ];
  const odd = fc.array(
    fc.constantFrom('a', '.', '/', '-', '@', '{', '}', '~', 'lock', '.lock', ' ', 'é', '*', '\\', 'HEAD'),
    {
      maxLength: 6,
    },
  );
  const generated = fc.sample(
    odd.map((parts) => parts.join('')),
    { numRuns: runs(60, 1000), seed: 7 },
  );
  for (const name of new Set([...known, ...more, ...generated])) {
    const accepted = await userGit('/', 'check-ref-format', '--branch', name).then(
      () => true,
      () => false,
    );
    assert.equal(isValidBranchName(name), accepted, JSON.stringify(name));
  }
  for (const name of ['refs/heads/main', 'refs/tags/v1', 'refs/remotes/origin/main'])
    assert.equal(isValidBranchName(name), false, name);
  assert.equal(isValidBranchName('refs/other'), true);
});

test('a tag is written with its message, and found by its name alone', async (t) => {
  const repository = await temporaryRepository(t);
  const commit = await commitTo(repository, { changes: [put('a', '1')] });
  const id = await writeTag(repository, {
    name: 'v1',
    commit_id: commit,
    message: 'First\n\nOf many\n',
    tagger: someone,
  });
  await updateRefs(repository, [
    { ref: 'refs/tags/v1', old: null, new: id },
    { ref: 'refs/tags/light', old: null, new: commit },
    { ref: 'refs/heads/light', old: null, new: commit },
  ]);
  assert.deepEqual(await resolveTag(repository, 'v1'), { name: 'v1', id });
  assert.deepEqual(await readTag(repository, { name: 'v1', id }), {
    name: 'v1',
    id,
    commit_id: commit,
    message: 'First\n\nOf many',
    tagger_name: someone.name,
    tagger_email: someone.email,
    tagged_date: someone.date.toISOString(),
  });
  assert.deepEqual(await resolveTag(repository, 'light'), { name: 'light', id: commit });
  for (const name of ['main', 'absent', `x-g${commit.slice(0, 8)}`, 'v1^{commit}', '../heads/main', ''])
    assert.equal(await resolveTag(repository, name), undefined, name);
  assert.match(await userGit(repository.path, 'fsck', '--strict'), /^(?!.*error)/s);
  await assert.rejects(
    writeTag(repository, { name: '-x', commit_id: commit, message: 'm', tagger: someone }),
    TypeError,
  );
  assert.deepEqual(await refsContaining(repository, commit), [
    'refs/heads/light',
    'refs/heads/main',
    'refs/tags/light',
    'refs/tags/v1',
  ]);
  assert.deepEqual(await refsContaining(repository, commit, ['tags']), ['refs/tags/light', 'refs/tags/v1']);
});

test('the base of several commits is what the first shares with the others', async (t) => {
  const repository = await temporaryRepository(t);
  const base = await commitTo(repository, { changes: [put('a', '1')] });
  const [one, two, three] = await Promise.all(
    ['one', 'two', 'three'].map(async (branch) => {
      await updateRefs(repository, [{ ref: `refs/heads/${branch}`, old: null, new: base }]);
      return commitTo(repository, { branch, parent: base, changes: [put(branch, branch)] });
    }),
  );
  assert.equal(await mergeBase(repository, [one!, two!, three!]), base);
  const other = await commitTo(repository, { branch: 'other', changes: [put('b', '1')] });
  assert.equal(await mergeBase(repository, [one!, other]), undefined);
});

test('a branch moves when it is packed, when its folder is missing, and while git packs refs', async (t) => {
  const repository = await temporaryRepository(t);
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c', 'd'])
    ids.push(await commitTo(repository, { parent: ids.at(-1) ?? null, changes: [put(name, name)] }));
  const branches = ['main', 'deep/er/branch', 'deep/er/other', 'x'];
  await updateRefs(
    repository,
    branches.slice(1).map((name) => ({ ref: `refs/heads/${name}`, old: null, new: ids[3]! })),
  );
  let isOver = false;
  const packing = (async () => {
    while (!isOver) await git(repository, 'pack-refs', ['--all']).catch(() => {}); // It gives way to a lock.
  })();
  const ends = await Promise.all(
    branches.map(async (name) => {
      let old = ids[3]!;
      for (let turn = 0; turn < 30; turn++) {
        const next = ids[turn % 4]!;
        if (next !== old) await updateRefs(repository, [{ ref: `refs/heads/${name}`, old, new: next }]);
        old = next;
      }
      return [name, old];
    }),
  );
  isOver = true;
  await packing;
  const shown = (await git(repository, 'for-each-ref', ['--format=%(refname:lstrip=2) %(objectname)'])).toString();
  assert.deepEqual(shown.trim().split('\n').sort(), ends.map((pair) => pair.join(' ')).sort());
  assert.equal((await git(repository, 'fsck', ['--no-progress', '--no-dangling'])).toString(), '');
});

test('a symbolic or locked branch, and an object that is no commit, are left to git, which refuses', async (t) => {
  const repository = await temporaryRepository(t);
  const first = await commitTo(repository, { changes: [put('a', 'a')] });
  const second = await commitTo(repository, { parent: first, changes: [put('a', 'b')] });
  const main = (old: string, target: string) => updateRefs(repository, [{ ref: 'refs/heads/main', old, new: target }]);
  const tree = (await readCommit(repository, second)).tree_id;
  await assert.rejects(main(second, tree), GitError);
  await writeFile(join(repository.path, 'refs/heads/main.lock'), '');
  await assert.rejects(main(second, first), GitError);
  await rm(join(repository.path, 'refs/heads/main.lock'));
  await main(second, first);
  await git(repository, 'symbolic-ref', [], ['refs/heads/alias', 'refs/heads/main']);
  await updateRefs(repository, [{ ref: 'refs/heads/alias', old: first, new: second }]);
  assert.equal(await resolveBranch(repository, 'main'), second);
});
