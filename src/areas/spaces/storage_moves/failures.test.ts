/** Moves that fail leave their sources as they were, and writable. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileUrl, filledWorld, headOf, onMain, repositoryIn } from '../../../../test/support/repository.ts';
import { moved, twoStorages } from '../../../../test/support/storage_moves.ts';
import type { World } from '../../../../test/support/world.ts';
import { GitError, git, placeOf } from '../../../git/index.ts';
import { failureText } from './rules.ts';

const { folder, ...options } = await twoStorages();

/** Moves the project, which fails. Its source can be written to if it could before, and no copy is left. */
async function failed(here: World): Promise<string> {
  const { project, services, db } = here;
  const move = await moved(here, `/projects/${project.id}`);
  assert.equal(move.state, 'failed', JSON.stringify(move));
  assert.ok(!move.error_message.includes(folder), move.error_message);
  const { storage } = await db
    .selectFrom('projects')
    .select('storage')
    .where('id', '=', project.id)
    .executeTakeFirstOrThrow();
  assert.equal(storage, 'default');
  const copy = placeOf(services, { id: project.id, storage: 'second' });
  const left = await readdir(path.dirname(copy)).catch(() => []);
  assert.deepEqual(left, []);
  return move.error_message;
}

test('a damaged source is left as it is', async () => {
  const here = await filledWorld(options);
  const source = repositoryIn(here).path;
  const head = (await headOf(here))!;
  const object = path.join(source, 'objects', head.slice(0, 2), head.slice(2));
  await rename(object, `${object}.away`);
  assert.match(await failed(here), /^The repository is damaged: /);
  await rename(`${object}.away`, object);

  const torn = path.join(source, 'refs/heads/torn');
  await writeFile(torn, '');
  assert.equal(await failed(here), 'The repository is damaged: the ref heads/torn cannot be read');
  await rm(torn);

  await git({ path: source }, 'repack', ['-a', '-d', '-q']);
  const packs = path.join(source, 'objects/pack');
  const pack = path.join(packs, (await readdir(packs)).find((name) => name.endsWith('.pack'))!);
  await truncate(pack, 40);
  assert.match(await failed(here), /^The repository is damaged: /);
  assert.ok(existsSync(pack));
});

test('storages that cannot be used are named, and the project stays writable', async () => {
  const here = await filledWorld(options);
  const second = path.join(folder, 'second');
  await rm(second, { recursive: true, force: true });
  assert.equal(await failed(here), 'The storage second cannot be written to.');
  await writeFile(second, '');
  assert.equal(await failed(here), 'The storage second cannot be written to.');
  await rm(second);
  await mkdir(second);
  const written = await here.as('maintainer').post(fileUrl(here.project, 'NEW.md'), { ...onMain, content: 'new' });
  assert.equal(written.status, 201);
  const source = repositoryIn(here).path;
  await rename(source, `${source}.away`);
  assert.equal(await failed(here), 'The storage default cannot be read.');
  await rename(`${source}.away`, source);
  assert.equal((await moved(here, `/projects/${here.project.id}`)).state, 'replicated');
});

test('a full disk is no damage, also when git meets it', () => {
  const places = { source: 'default', destination: 'default2', source_path: '/a/default' };
  const full = new GitError('pack-refs', 128, 'fatal: write error: No space left on device');
  assert.equal(failureText(full, places), 'The storage default2 has not enough space.');
  const denied = Object.assign(new Error('denied'), { code: 'EACCES', errno: -13, path: '/a/default2/x' });
  assert.equal(failureText(denied, places), 'The storage default2 cannot be written to.');
});

test('a copy on the destination that no move has left stays where it is', async () => {
  const here = await filledWorld(options);
  const other = placeOf(here.services, { id: here.project.id, storage: 'second' });
  await mkdir(other, { recursive: true });
  await writeFile(path.join(other, 'kept'), '');
  const move = await moved(here, `/projects/${here.project.id}`);
  assert.deepEqual(
    [move.state, move.error_message],
    ['failed', 'The storage second has another copy of the repository.'],
  );
  assert.ok(existsSync(path.join(other, 'kept')));
  await rm(other, { recursive: true });
  assert.equal((await moved(here, `/projects/${here.project.id}`)).state, 'replicated');
});
