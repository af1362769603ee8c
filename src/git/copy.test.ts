import assert from 'node:assert/strict';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { commitTo, put, temporaryFolder } from '../../test/support/bare_repository.ts';
import { copyRepository } from './copy.ts';
import {
  createRepository,
  deleteRepository,
  git,
  listBranches,
  listTags,
  type Repository,
  resolveCommit,
  updateRefs,
} from './index.ts';

const packed = (repository: Repository) => git(repository, 'repack', ['-a', '-d', '--quiet']);
const whole = async (repository: Repository) =>
  (await git(repository, 'fsck', ['--full', '--strict', '--no-dangling'])).toString('utf8');

async function pair(t: Parameters<typeof temporaryFolder>[0]) {
  const folder = await temporaryFolder(t);
  const make = (name: string) => createRepository(join(folder, name), { defaultBranch: 'main' });
  const source = await make('source.git');
  const first = await commitTo(source, { changes: [put('a.txt', 'a')] });
  await packed(source);
  const second = await commitTo(source, { parent: first, changes: [put('b.txt', 'b')] });
  const side = await commitTo(source, { branch: 'side', parent: null, changes: [put('side.txt', 'side')] });
  await updateRefs(source, [{ ref: 'refs/tags/v1', old: null, new: first }]);
  return { source, target: await make('target.git'), first, second, side };
}

const names = async (repository: Repository) => (await listBranches(repository)).map(({ name }) => name);

test('a copy has every branch and tag, shares the files, and survives the deletion of the source', async (t) => {
  const { source, target, first, second } = await pair(t);
  await copyRepository(source, target);
  assert.deepEqual(await names(target), ['main', 'side']);
  assert.deepEqual(await listTags(target), [{ name: 'v1', id: first }]);
  const loose = join('objects', second.slice(0, 2), second.slice(2));
  const [one, other] = await Promise.all([source, target].map(({ path }) => stat(join(path, loose))));
  assert.equal(one!.ino, other!.ino);
  await packed(source);
  await deleteRepository(source);
  assert.equal(await whole(target), '');
  assert.equal(await resolveCommit(target, 'main'), second);
});

test('objects that were repacked during the copy are fetched, and another run completes an interrupted copy', async (t) => {
  const { source, target, second } = await pair(t);
  await copyRepository(source, target);
  // As if the pack had vanished under the copy: the index alone has come.
  const folder = join(target.path, 'objects/pack');
  for (const name of await readdir(folder)) if (name.endsWith('.pack')) await rm(join(folder, name));
  await git(target, 'update-ref', ['-d'], ['refs/heads/main']);
  await packed(source);
  await copyRepository(source, target);
  assert.equal(await resolveCommit(target, 'main'), second);
});

test('a copy of one branch contains no objects of the others', async (t) => {
  const { source, target, second, side } = await pair(t);
  await copyRepository(source, target, { branches: ['main'] });
  assert.deepEqual(await names(target), ['main']);
  assert.equal(await resolveCommit(target, 'main'), second);
  assert.equal(await resolveCommit(target, side), undefined);
  await assert.rejects(copyRepository(source, target, { branches: ['none'] }), /none/);
});
