import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { access, mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { commitTo, put, temporaryRepository, userGit } from '../../test/support/bare_repository.ts';
import {
  countObjects,
  entryAt,
  git,
  lastCommitOf,
  listBranches,
  maintain,
  readBlob,
  resolveBranch,
  updateRefs,
} from './index.ts';

test('maintenance packs many objects and keeps all of them, reachable or not', async (t) => {
  const repository = await temporaryRepository(t);
  await maintain(repository); // An empty repository needs none and is no error.
  await git(repository, 'config', [], ['core.fsync', 'none']);
  const unreachable = (await git(repository, 'hash-object', ['-w', '--stdin'], [], [], { input: 'kept' }))
    .toString()
    .trim();
  const first = await commitTo(repository, {
    changes: Array.from({ length: 510 }, (_, index) => put(`f${index}`, `${index}`)),
  });
  const refs = Array.from({ length: 250 }, (_, index) => ({ ref: `refs/heads/b${index}`, old: null, new: first }));
  await updateRefs(repository, refs);
  assert.ok((await countObjects(repository)).loose_objects > 510);

  await maintain(repository);
  const { loose_objects, packs, size_bytes } = await countObjects(repository);
  assert.deepEqual([loose_objects, packs], [0, 1]);
  assert.ok(size_bytes > 1024);
  await access(join(repository.path, 'objects', 'info', 'commit-graphs', 'commit-graph-chain'));
  await access(join(repository.path, 'packed-refs'));
  assert.equal((await listBranches(repository)).length, 251);
  assert.equal((await readBlob(repository, unreachable)).toString(), 'kept');
  assert.equal(await lastCommitOf(repository, first, 'f5'), first);
  assert.equal(await userGit(repository.path, 'fsck', '--strict', '--no-dangling'), '');
});

test('maintenance packs a few large objects as well', async (t) => {
  const repository = await temporaryRepository(t);
  const first = await commitTo(repository, { changes: [put('large', randomBytes(17 * 1024 * 1024))] });
  assert.equal((await countObjects(repository)).packs, 0);
  await maintain(repository);
  const { loose_objects, loose_bytes, packs } = await countObjects(repository);
  assert.deepEqual([loose_objects, loose_bytes, packs], [0, 0, 1]);
  assert.equal((await entryAt(repository, first, 'large'))?.type, 'blob');
});

test('readers and writers go on while maintenance runs', async (t) => {
  const repository = await temporaryRepository(t);
  await git(repository, 'config', [], ['core.fsync', 'none']);
  let parent = await commitTo(repository, {
    changes: Array.from({ length: 510 }, (_, index) => put(`f${index}`, `${index}`)),
  });
  let is_running = true;
  const maintenance = (async () => {
    for (let round = 0; round < 2; round++) {
      await maintain(repository);
      await git(repository, 'repack', ['-a', '-d', '-q']); // Removes the packs that readers have open.
    }
    is_running = false;
  })();
  let count = 0;
  while (is_running) {
    count++;
    parent = await commitTo(repository, { parent, changes: [put(`g${count}`, `${count}`)] });
    assert.equal(await resolveBranch(repository, 'main'), parent);
    const entry = await entryAt(repository, parent, `f${count % 510}`);
    assert.equal((await readBlob(repository, entry!.id)).toString(), `${count % 510}`);
  }
  await maintenance;
  assert.equal(await userGit(repository.path, 'fsck', '--strict', '--no-dangling'), '');
});

test('the remains of dead writers are removed when they are old, and kept when they are recent', async (t) => {
  const repository = await temporaryRepository(t);
  await commitTo(repository, { changes: [put('a', 'a')] });
  const objects = join(repository.path, 'objects');
  const yesterday = new Date(Date.now() - 25 * 60 * 60_000);
  const leftovers = [
    'tmp_objdir-incoming-x',
    'pack/tmp_pack_x',
    'pack/.tmp-1-pack-x.pack',
    'aa/tmp_obj_x',
    'pack/multi-pack-index.lock',
  ];
  for (const name of leftovers) {
    for (const [path, time] of [
      [`${name}old`, yesterday],
      [`${name}new`, new Date()],
    ] as const) {
      const real = join(objects, path.replace(/\.lock(old|new)$/, '.lock'));
      await mkdir(join(real, '..'), { recursive: true });
      if (name.startsWith('tmp_objdir')) await mkdir(real);
      else await writeFile(real, '');
      await utimes(real, time, time);
    }
  }
  await utimes(join(objects, 'pack/multi-pack-index.lock'), yesterday, yesterday);
  await maintain(repository);
  const is_there = (path: string) =>
    access(join(objects, path)).then(
      () => true,
      () => false,
    );
  for (const name of leftovers.slice(0, -1)) {
    assert.equal(await is_there(`${name}old`), false, name);
    assert.equal(await is_there(`${name}new`), true, name);
  }
  assert.equal(await is_there('pack/multi-pack-index.lock'), false);
});
