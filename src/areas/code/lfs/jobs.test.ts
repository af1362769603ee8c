import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import pino from 'pino';
import { objectFor, upload } from '../../../../test/support/lfs.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { removeUnusedObjects } from './index.ts';
import { blobOf } from './queries.ts';

const run = ({ services }: World) =>
  removeUnusedObjects.perform(
    {},
    { ...services, log: pino({ level: 'silent' }), signal: new AbortController().signal },
  );

async function isStored({ db, services }: World, oid: string): Promise<{ row: boolean; blob: boolean }> {
  const row = await db.selectFrom('lfs_objects').select('id').where('oid', '=', oid).executeTakeFirst();
  const stream = await services.blobs.read(blobOf(oid));
  stream?.destroy();
  return { row: row !== undefined, blob: stream !== undefined };
}

const makeOld = ({ db }: World) =>
  db.updateTable('lfs_objects').set({ last_upload_at: sql`now() - interval '25 hours'` }).execute();
const unlink = ({ db, project }: World) =>
  db.deleteFrom('lfs_objects_projects').where('project_id', '=', project.id).execute();

async function stored(here: World) {
  const content = Buffer.from(randomBytes(100));
  assert.equal((await upload(here, 'developer', content)).status, 200);
  return { content, oid: objectFor(content).oid };
}

test('an object is deleted with its last project, a day after its last upload', async () => {
  const here = await world();
  const there = await world();
  const { content, oid } = await stored(here);
  await upload(there, 'developer', content);
  await unlink(here);
  await makeOld(here);
  await run(here);
  assert.deepEqual(await isStored(here, oid), { row: true, blob: true });

  await there.db.deleteFrom('projects').where('id', '=', there.project.id).execute();
  await here.db.updateTable('lfs_objects').set({ last_upload_at: sql`now()` }).execute();
  await run(here);
  assert.deepEqual(await isStored(here, oid), { row: true, blob: true });
  await makeOld(here);
  await run(here);
  assert.deepEqual(await isStored(here, oid), { row: false, blob: false });
});

test('the next run finishes what a crash interrupted', async () => {
  const here = await world();
  const withoutBlob = await stored(here);
  const withoutProject = await stored(here);
  await unlink(here);
  await here.services.blobs.remove(blobOf(withoutBlob.oid));
  await makeOld(here);
  await run(here);
  assert.deepEqual(await isStored(here, withoutBlob.oid), { row: false, blob: false });
  assert.deepEqual(await isStored(here, withoutProject.oid), { row: false, blob: false });
});

test('an object that is uploaded again during its removal survives', async () => {
  const here = await world();
  for (let round = 0; round < 10; round++) {
    const { content, oid } = await stored(here);
    await unlink(here);
    await makeOld(here);
    const [, uploaded] = await Promise.all([run(here), upload(here, 'developer', content)]);
    assert.equal(uploaded.status, 200);
    assert.deepEqual(await isStored(here, oid), { row: true, blob: true });
  }
});
