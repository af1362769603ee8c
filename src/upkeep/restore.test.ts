/** A backup that was taken while repositories moved to another storage. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { emptyDatabase, testDatabase } from '../../test/support/database.ts';
import { atFileEnd } from '../../test/support/file_end.ts';
import { filledWorld } from '../../test/support/repository.ts';
import { moved, twoStorages } from '../../test/support/storage_moves.ts';
import { world } from '../../test/support/world.ts';
import { readConfig } from '../config.ts';
import { connect } from '../db/index.ts';
import { backup } from './backup.ts';
import { restore } from './restore.ts';

test('a move that a backup finds started begins anew after the restore, and nothing is read-only until then', async () => {
  const here = await filledWorld(await twoStorages());
  const { db, services, project } = here;
  const { connectionString } = await testDatabase();
  const { id } = await moved(here, `/projects/${project.id}`);
  const row = { project_id: project.id, source_storage: 'second', destination_storage: 'default', runs: 3 };
  await db.updateTable('repository_storage_moves').set({ state: 'finished' }).where('id', '=', id).execute();
  await db
    .insertInto('repository_storage_moves')
    .values({ ...row, state: 'started' })
    .execute();
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-restored-'));
  atFileEnd(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'backup.tar.zst');
  const { storages, blobs } = services;
  await backup({ connectionString, storages, blobs, secretKeyFile: undefined, file });
  await emptyDatabase();
  for (const name of ['default', 'second']) await mkdir(path.join(folder, name));
  const config = readConfig({
    COPPICE_DATA: path.join(folder, 'data'),
    COPPICE_URL: 'http://coppice.test',
    COPPICE_STORAGES: `default=${folder}/default,second=${folder}/second`,
    COPPICE_SECRET_KEY: 'a secret key of sufficient length',
  });
  await restore({ connectionString, config, file });
  const restored = connect({ connectionString, max: 1 });
  try {
    const found = await restored
      .selectFrom('repository_storage_moves')
      .select(['state', 'runs'])
      .orderBy('id')
      .execute();
    assert.deepEqual(found, [
      { state: 'finished', runs: 1 },
      { state: 'scheduled', runs: 0 },
    ]);
    const values = { project_id: project.id, updates: '[]', storage: 'second' };
    await restored.insertInto('reference_updates').values(values).execute();
  } finally {
    await restored.destroy();
  }
});

test('a backup for which the disk has no room says so, and leaves nothing behind', {
  skip: process.platform !== 'linux',
}, async () => {
  const { services } = await world();
  const { connectionString } = await testDatabase();
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-full-'));
  atFileEnd(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'backup.tar.zst');
  await symlink('/dev/full', `${file}.new-${process.pid}`);
  const { storages, blobs } = services;
  await assert.rejects(backup({ connectionString, storages, blobs, secretKeyFile: undefined, file }), {
    code: 'ENOSPC',
  });
  assert.deepEqual(await readdir(folder), []);
});
