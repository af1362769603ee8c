/** How exports run: who may have them written, how many at a time, and what follows failures. */
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import pino from 'pino';
import { performJob } from '../../../../test/support/jobs.ts';
import {
  addLabels,
  ageExports,
  contentOf,
  download,
  exported,
  statusOf,
  worldWithoutExports,
  writeExports,
} from '../../../../test/support/relation_exports.ts';
import { untilLockWaits } from '../../../../test/support/waiting.ts';
import type { World } from '../../../../test/support/world.ts';
import { continueExports, writeRelationExport } from './index.ts';

const silent = pino({ level: 'silent' });
const labels = { relation: 'labels' };
const sixHoursAgo = sql<string>`now() - interval '6 hours 1 second'`;

/** Leaves a file as a server does that is killed while it writes it. */
async function beginAndDie({ db }: World, relation: string): Promise<void> {
  await sql`
    update relation_export_files files set slot = 0, run = files.run + 1, heard_at = now()
      from relation_exports exports where exports.id = export_id and relation = ${relation}`.execute(db);
}

/** A job writes what is due. */
const postpone = (db: World['db'], relation: string, by: string) =>
  sql`
    update relation_export_files set due_at = now() + ${by}::interval from relation_exports exports
     where exports.id = export_id and relation <> ${relation}`.execute(db);

test('rights are checked again when a job starts and at every download', async () => {
  const here = await worldWithoutExports();
  const { as, db, people, group, services } = here;
  const place = `/projects/${here.project.id}`;
  const url = `${place}/export_relations`;
  await exported(here, 'maintainer', place);
  await ageExports(here, '4 minutes');
  await as('maintainer').post(url);
  const level = (access_level: number) =>
    as('owner').put(`/groups/${group.id}/members/${people.maintainer.id}`, { access_level });
  assert.equal((await level(30)).status, 200);
  await writeExports(here);
  const refused = await as('maintainer').get(`${url}/download`, labels);
  assert.deepEqual([refused.status, refused.body.message], [403, '403 Forbidden']);
  assert.equal((await level(40)).status, 200);
  for (const { relation, status, error } of (await as('maintainer').get(`${url}/status`)).body)
    assert.deepEqual([status, error], [-1, 'PermissionDenied'], relation);
  const failed = await as('maintainer').get(`${url}/download`, labels);
  assert.deepEqual([failed.status, failed.body.message], [404, 'Export file not found']);

  await as('maintainer').post(url, { batched: true });
  await postpone(db, 'self', '1 hour');
  await performJob(services, writeRelationExport, { slot: 0 });
  await postpone(db, 'self', '0 hours');
  await db.updateTable('users').set({ state: 'blocked' }).where('id', '=', people.maintainer.id).execute();
  await writeExports(here);
  await db.updateTable('users').set({ state: 'active' }).where('id', '=', people.maintainer.id).execute();
  const { status, error } = await statusOf(here, 'maintainer', place, 'repository');
  assert.deepEqual([status, error], [-1, 'PermissionDenied']);
});

test('an export whose run was lost is written again, and an export without progress for six hours fails', async () => {
  const here = await worldWithoutExports();
  const { as, db, services } = here;
  const place = `/projects/${here.project.id}`;
  await as('maintainer').post(`${place}/export_relations`);
  await beginAndDie(here, 'labels');
  await sql`delete from graphile_worker._private_jobs`.execute(db);
  await writeExports(here);
  assert.equal((await statusOf(here, 'maintainer', place, 'labels')).status, 1);

  await as('maintainer').post(`${place}/export_relations`, { batched: true });
  await beginAndDie(here, 'repository');
  await db.updateTable('relation_export_files').set({ heard_at: sixHoursAgo }).where('slot', '=', 0).execute();
  await writeExports(here);
  const { status, error } = await statusOf(here, 'maintainer', place, 'repository');
  assert.deepEqual([status, error], [-1, 'StaleExport']);
  assert.equal((await statusOf(here, 'maintainer', place, 'labels')).status, 1);

  // A slot that is not given out any more leaves its export to the others.
  await as('maintainer').post(`${place}/export_relations`, { batched: true });
  await beginAndDie(here, 'repository');
  await db.updateTable('relation_export_files').set({ slot: 7 }).where('slot', '=', 0).execute();
  await performJob(services, writeRelationExport, { slot: 7 });
  await writeExports(here);
  assert.equal((await statusOf(here, 'maintainer', place, 'repository')).status, 1);
});

test('a file that cannot be stored has three attempts with growing pauses before it fails', async () => {
  const here = await worldWithoutExports();
  const { as, db, services } = here;
  const place = `/projects/${here.project.id}`;
  await as('maintainer').post(`${place}/export_relations`);
  // The folder in which files are received.
  const incoming = path.join(services.blobs.address, '.incoming');
  await rm(incoming, { recursive: true, force: true });
  await writeFile(incoming, '');
  const attempt = async () => {
    await writeExports(here);
    const late = sql<boolean>`due_at > now()`.as('is_late');
    const rows = await db
      .selectFrom('relation_export_files')
      .select(['failures', 'status', 'slot', late])
      .distinct()
      .execute();
    await db.updateTable('relation_export_files').set({ due_at: sql<string>`now()` }).execute();
    return rows;
  };
  assert.deepEqual(await attempt(), [{ failures: 1, status: 0, slot: null, is_late: true }]);
  assert.deepEqual(await attempt(), [{ failures: 2, status: 0, slot: null, is_late: true }]);
  assert.deepEqual(await attempt(), [{ failures: 2, status: -1, slot: null, is_late: false }]);
  await rm(incoming);
  const { status, error } = await statusOf(here, 'maintainer', place, 'labels');
  assert.deepEqual([status, error], [-1, 'InternalError']);
  await exported(here, 'maintainer', place);
  assert.equal((await contentOf(await download(here, 'maintainer', place, labels))).length, 0);
});

test('a batched export fails when all its batches fail', async () => {
  const here = await worldWithoutExports();
  const { as, db, services } = here;
  const place = `/projects/${here.project.id}`;
  await addLabels(here, place, ['a', 'b']);
  await as('admin').put('/application/settings', { relation_export_batch_size: 1 });
  await as('maintainer').post(`${place}/export_relations`, { batched: true });
  await postpone(db, 'labels', '1 hour');
  await performJob(services, writeRelationExport, { slot: 0 });
  /** Has a batch make no progress. */
  const stale = async (batch_number: number) => {
    const batch = db.updateTable('relation_export_files').where('batch_number', '=', batch_number);
    await batch.set({ status: 0, slot: 0, heard_at: sixHoursAgo }).execute();
    await continueExports.run({ ...services, log: silent });
    return statusOf(here, 'maintainer', place, 'labels');
  };
  const first = await stale(1);
  assert.deepEqual([first.status, first.error, first.batches[0].error], [1, null, 'StaleExport']);
  const both = await stale(2);
  assert.deepEqual([both.status, both.error, both.batches_count], [-1, 'StaleExport', 2]);
  const answer = await as('maintainer').get(`${place}/export_relations/download`, {
    ...labels,
    batched: true,
    batch_number: 1,
  });
  assert.deepEqual([answer.status, answer.body.message], [404, 'Export file not found']);
  await as('admin').put('/application/settings', { relation_export_batch_size: 1000 });
});

test('the setting limits how many files are written at the same time', async () => {
  const here = await worldWithoutExports();
  const { as, db, services } = here;
  const place = `/projects/${here.project.id}`;
  const slots = async () => {
    const { rows } = await sql<{ slot: number }>`
      select (payload->>'slot')::integer as slot from graphile_worker._private_jobs jobs join graphile_worker._private_tasks tasks on tasks.id = jobs.task_id
       where identifier = 'write_relation_export' order by slot`.execute(db);
    return rows.map(({ slot }) => slot);
  };
  await sql`delete from graphile_worker._private_jobs`.execute(db);
  await as('maintainer').post(`${place}/export_relations`);
  assert.deepEqual(await slots(), [0, 1]);
  await as('admin').put('/application/settings', { concurrent_relation_export_limit: 3 });
  await continueExports.run({ ...services, log: silent });
  assert.deepEqual(await slots(), [0, 1, 2]);
  await as('admin').put('/application/settings', { concurrent_relation_export_limit: 1 });
  await performJob(services, writeRelationExport, { slot: 1 });
  const written = await db.selectFrom('relation_export_files').select('id').where('run', '>', 0).execute();
  assert.deepEqual(written, []);
  await as('admin').put('/application/settings', { concurrent_relation_export_limit: 2 });
});

test('a run changes nothing after another has taken over, or its export was deleted', async () => {
  const here = await worldWithoutExports();
  const { as, db, services, project } = here;
  const place = `/projects/${project.id}`;
  await addLabels(here, place, ['ripe']);
  const start = () => as('maintainer').post(`${place}/export_relations`);
  /** Something happens to the only file while it is written, for which the job waits because its snapshot cannot begin. */
  const whileWriting = async (work: () => Promise<unknown>) => {
    await db.deleteFrom('relation_exports').where('relation', '<>', 'labels').execute();
    const run = await db.transaction().execute(async (tx) => {
      await sql`lock table labels in access exclusive mode`.execute(tx);
      const run = performJob(services, writeRelationExport, { slot: 0 });
      await untilLockWaits(db);
      await work();
      return { ended: run };
    });
    await run.ended;
  };
  await start();
  await whileWriting(() =>
    sql`update relation_export_files set run = run + 1, slot = null, due_at = now() + interval '1 hour'`.execute(db),
  );
  const file = await db.selectFrom('relation_export_files').select(['status', 'blob_key']).executeTakeFirstOrThrow();
  assert.deepEqual(file, { status: 0, blob_key: null });
  assert.equal((await db.selectFrom('unused_blobs').select('key').execute()).length, 1);
  await db.updateTable('relation_export_files').set({ due_at: sql<string>`now()` }).execute();
  await writeExports(here);
  await ageExports(here, '4 minutes');
  await start();
  await whileWriting(() => db.deleteFrom('relation_exports').execute());
  assert.deepEqual(await db.selectFrom('relation_export_files').selectAll().execute(), []);
});
