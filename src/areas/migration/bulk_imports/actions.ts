/** Canceling and repeating migrations (docs/reference/bulk_imports.md#states). */
import { sql } from 'kysely';
import { type Database, stamped } from '../../../db/index.ts';
import { badParams, badRequest, found, type Services } from '../../../http/index.ts';
import { type MigrationRow, running } from './definition.ts';
import { sealToken } from './source/token_queries.ts';
import { holding, repeated, retried } from './step_rules.ts';

export const endTexts = { ended: 'The migration has already ended.', running: 'The migration has not ended.' };

/**
 * Reads and locks a migration.
 * @param owner_id if given, only a migration that this user has started
 * @throws ApiError 404
 */
async function lockMigration(tx: Database, id: number, owner_id: number | undefined): Promise<MigrationRow> {
  const row = tx
    .selectFrom('bulk_imports')
    .selectAll()
    .where('id', '=', id)
    .$if(owner_id !== undefined, (q) => q.where('user_id', '=', owner_id!));
  return found(undefined, await row.forNoKeyUpdate().$castTo<MigrationRow>().executeTakeFirst());
}

/**
 * Cancels a migration. Records already imported stay, and the token is erased.
 * @param owner_id as for `lockMigration`
 * @throws ApiError 404, 400 if it has ended
 */
export const cancelMigration = (db: Database, id: number, owner_id: number | undefined): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const { state } = await lockMigration(tx, id, owner_id);
    if (!running.includes(state)) throw badRequest(endTexts.ended);
    await endMigration(tx, id, 'canceled');
    await tx.updateTable('bulk_imports').set({ access_token: null }).where('id', '=', id).execute();
  });

/**
 * Ends a migration with all its entities and steps that have not ended.
 * @param tx a transaction that has locked it
 */
async function endMigration(tx: Database, id: number, state: 'canceled' | 'timeout'): Promise<void> {
  await sql`
    update bulk_import_relations set state = 'canceled', ended_at = now()
     where state in ('created', 'started') and entity_id in (select id from bulk_import_entities where bulk_import_id = ${id})`.execute(
    tx,
  );
  await tx
    .updateTable('bulk_import_entities')
    .set(
      stamped({
        state,
        has_failures: sql<boolean>`exists (select from bulk_import_failures where entity_id = bulk_import_entities.id)`,
      }),
    )
    .where('bulk_import_id', '=', id)
    .where('state', 'in', running)
    .execute();
  await tx
    .updateTable('bulk_imports')
    .set(
      stamped({
        state,
        ended_at: sql<string>`now()`,
        has_failures: sql<boolean>`exists (select from bulk_import_entities where bulk_import_id = bulk_imports.id and has_failures)`,
      }),
    )
    .where('id', '=', id)
    .execute();
}

const isOnward = sql`steps.relation = any(${retried('onward')}::text[])`;

/**
 * The failures of a step's own records. Failures of records nested in imported ones stay, because a retry does not
 * write them again.
 */
const ownFailures = sql`failures.entity_id = steps.entity_id and case
  when ${isOnward} then failures.relation = steps.relation and failures.step = 'extractor'
  when steps.relation = any(${holding}::text[]) then starts_with(failures.relation, steps.relation)
  else failures.relation = steps.relation end`;

/** The counts of a step that a retry does not count again. */
const keptCounts = sql`case
  when ${isOnward} then counts
  when steps.relation = any(${retried('anew')}::text[]) then '{}'
  else coalesce((select jsonb_object_agg(name, case when name = steps.relation or steps.relation = any(${holding}::text[])
                                                    then count || jsonb_build_object('fetched', count->'imported') else count end)
                   from jsonb_each(counts) each(name, count)), '{}') end`;

/** The number of failures that remain after a retry has started. */
const leftFailures = sql`(
  select coalesce(sum(coalesce(more, 1)), 0) from bulk_import_failures failures
   where failures.entity_id = steps.entity_id and (failures.relation = steps.relation or starts_with(failures.relation, steps.relation || ', ')))`;

/**
 * Deletes the steps and failures of entities whose group or project was not created, or was deleted since: they start
 * from scratch.
 */
async function forgetLost(tx: Database, entity_ids: readonly number[]): Promise<void> {
  const isLost = sql`entity_id in (
    select id from bulk_import_entities where id = any(${entity_ids}::bigint[]) and namespace_id is null and project_id is null)`;
  await sql`delete from bulk_import_failures where ${isLost}`.execute(tx);
  await sql`delete from bulk_import_relations where ${isLost}`.execute(tx);
}

/**
 * Restarts the steps of entities that failed, were canceled or have failures, and deletes the failures that they would
 * report again. The source exports again, and references are resolved again to include the new records.
 */
async function beginAgain(tx: Database, entity_ids: readonly number[]): Promise<void> {
  await forgetLost(tx, entity_ids);
  const wanted = sql`steps.entity_id = any(${entity_ids}::bigint[])
    and (steps.state in ('failed', 'canceled') or steps.failures_count > 0 or steps.relation = any(${repeated}::text[]))`;
  await sql`delete from bulk_import_failures failures using bulk_import_relations steps where ${wanted} and ${ownFailures}`.execute(
    tx,
  );
  await sql`
    update bulk_import_relations steps
       set state = 'created', silent_since = null, tries = 0, started_at = null, ended_at = null, progressed_at = now(), etag = null, is_again = true,
           counts = ${keptCounts}, failures_count = ${leftFailures},
           batch = case when ${isOnward} then batch else 0 end, line = case when ${isOnward} then line else 0 end
     where ${wanted}`.execute(tx);
}

/**
 * Retries a migration: its unfinished steps, and the relations with failures.
 * @param token for the source, required if the stored one was erased
 * @throws ApiError 404, 400 while it runs and without a token
 */
export const retryMigration = (
  { db, secrets }: Services,
  id: number,
  owner_id: number,
  token: string | undefined,
): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const { state, access_token } = await lockMigration(tx, id, owner_id);
    if (running.includes(state)) throw badRequest(endTexts.running);
    if (access_token === null && token === undefined) throw badParams('access_token is missing');
    const { rows } = await sql<{ id: number }>`
      update bulk_import_entities set state = 'started', phase = 0, updated_at = now()
       where bulk_import_id = ${id} and (state in ('failed', 'timeout', 'canceled') or has_failures) returning id`.execute(
      tx,
    );
    await beginAgain(
      tx,
      rows.map((row) => row.id),
    );
    const given = token === undefined ? {} : { access_token: sealToken(secrets, token) };
    const begun = { state: 'started', has_failures: false, ended_at: null, ...given };
    await tx.updateTable('bulk_imports').set(stamped(begun)).where('id', '=', id).execute();
  });
