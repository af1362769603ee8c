/** The token for a source: where it must not be, and for how long it is kept. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import pino from 'pino';
import { performJob } from '../../../../test/support/jobs.ts';
import { migrated, runMigrations } from '../../../../test/support/migrations.ts';
import { migrationPlace } from '../../../../test/support/source.ts';
import type { Database } from '../../../db/index.ts';
import type { Secrets } from '../../../secrets/index.ts';
import { groupTrees, projectTrees } from '../relations.ts';
import { brokenImportTokens, bulkImportWork } from './index.ts';

const { jobs } = bulkImportWork({ group: groupTrees, project: projectTrees });
const jobNamed = (name: string) => jobs.find((job) => job.name === name) ?? assert.fail();

/** Every row of the database whose text has the token, by table. */
async function tablesWith(db: Database, token: string): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_schema || '.' || table_name as name from information_schema.tables
     where table_schema in ('public', 'graphile_worker') and table_type = 'BASE TABLE'`.execute(db);
  const found: string[] = [];
  for (const { name } of tables) {
    const pattern = `%${token}%`;
    const { rows } = await sql`
      select from ${sql.table(name)} as rows where rows::text like ${pattern} or rows::text like ${`%${Buffer.from(token).toString('hex')}%`} limit 1`.execute(
      db,
    );
    if (rows.length > 0) found.push(name);
  }
  return found;
}

const isStored = async (db: Database, id: number): Promise<boolean> => {
  const row = db.selectFrom('bulk_imports').select('access_token').where('id', '=', id);
  return (await row.executeTakeFirstOrThrow()).access_token !== null;
};

test('the token is in no row, response or log line, even if the source returns it in an error', async (t) => {
  const here = await migrationPlace(t, [{ type: 'group', id: 7, full_path: 'orchard', relations: { self: [{}] } }]);
  const { db, source, services, as } = here;
  const said: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => said.push(line) });
  const id = await migrated(here);
  source.answers.set('POST /groups/orchard/export_relations', (response) =>
    response.writeHead(503, source.token).end(source.token),
  );
  const { rows } = await sql<{ id: number }>`select id from bulk_import_entities where bulk_import_id = ${id}`.execute(
    db,
  );
  // Runs the first steps with a log.
  await bulkImportWork({ group: groupTrees, project: projectTrees }).polls[0]!.run({ ...services, log });
  const steps = await sql<{
    id: number;
  }>`select id from bulk_import_relations where entity_id = ${rows[0]!.id}`.execute(db);
  for (const step of steps.rows) {
    const call = { ...services, log, signal: new AbortController().signal };
    await jobNamed('run_bulk_import_step').perform({ step_id: step.id }, call);
    assert.deepEqual(await tablesWith(db, source.token), []);
  }
  const answers = await Promise.all(
    ['', '/entities', `/entities/${rows[0]!.id}/failures`].map((path) => as('owner').get(`/bulk_imports/${id}${path}`)),
  );
  assert.ok(!JSON.stringify(answers.map(({ body }) => body)).includes(source.token));
  assert.ok(said.length > 0);
  assert.ok(!said.join('').includes(source.token));
  await as('owner').post(`/bulk_imports/${id}/cancel`);
  assert.equal(await isStored(db, id), false);
});

test('the token is erased a day after the end', async (t) => {
  const here = await migrationPlace(t, [{ type: 'group', id: 7, full_path: 'orchard', relations: { self: [{}] } }]);
  const { db, services } = here;
  const id = await migrated(here);
  await runMigrations(here);
  const erase = () => performJob(services, jobNamed('erase_bulk_import_tokens'));
  const endedBefore = (age: string) =>
    sql`update bulk_imports set ended_at = now() - ${age}::interval where id = ${id}`.execute(db);
  await endedBefore('23 hours 59 minutes');
  await erase();
  assert.equal(await isStored(db, id), true);
  await endedBefore('24 hours 1 minute');
  await erase();
  assert.equal(await isStored(db, id), false);
});

const brokenOf = (db: Database, secrets: Secrets) => Array.fromAsync(brokenImportTokens(db, secrets));

test('a token that cannot be decrypted is reported, and ends the migration with a sentence', async (t) => {
  const here = await migrationPlace(t, [{ type: 'group', id: 7, full_path: 'orchard', relations: { self: [{}] } }]);
  const { db, services, as } = here;
  const id = await migrated(here);
  assert.deepEqual(await brokenOf(db, services.secrets), []);
  await db
    .updateTable('bulk_imports')
    .set({ access_token: randomBytes(60) })
    .where('id', '=', id)
    .execute();
  assert.deepEqual(await brokenOf(db, services.secrets), [id]);
  await runMigrations(here);
  const { body: entities } = await as('owner').get(`/bulk_imports/${id}/entities`);
  const [failed] = entities[0].failures;
  assert.equal(failed.exception_message, 'The token for the source cannot be decrypted.');
});
