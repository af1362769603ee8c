/**
 * The course of a migration: which entities run, which of their steps are next, and when it ends
 * (docs/reference/bulk_imports.md#states).
 */
import { sql } from 'kysely';
import { type Database, stamped } from '../../../db/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { audit } from '../../instance/audit_events/index.ts';
import { discardProject } from '../../spaces/projects/index.ts';
import { type EntityType, running, type State } from './definition.ts';
import { maximumSteps, runStep, tellOfEnd } from './queue_jobs.ts';
import { afterContents, asksForExport, connections, phaseOf, stepsOfType, uselessWithout } from './step_rules.ts';

/** The number of entities of one migration that run at the same time. */
const maximumEntities = 3;
/** The number of further entities that the source exports ahead in the meantime. */
const maximumAhead = 7;
/**
 * Enqueues the job of a step in the importer's queue.
 * @param after_s seconds to wait
 */
export async function enqueueStep(tx: Database, id: number, after_s?: number): Promise<void> {
  const { bulk_import_concurrent_pipeline_batch_limit: limit } = await settingsOf(tx);
  const importer = await tx
    .selectFrom('bulk_import_relations')
    .innerJoin('bulk_import_entities', 'bulk_import_entities.id', 'bulk_import_relations.entity_id')
    .innerJoin('bulk_imports', 'bulk_imports.id', 'bulk_import_entities.bulk_import_id')
    .select('bulk_imports.user_id')
    .where('bulk_import_relations.id', '=', id)
    .executeTakeFirstOrThrow();
  const options = { key: String(id), id, person: importer.user_id, per_person: Math.min(limit, maximumSteps) };
  await runStep.enqueue(tx, { step_id: id }, after_s ? { ...options, after_s } : options);
}

interface Next {
  id: number;
  entity_type: EntityType;
  /** Whether its steps exist: an entity canceled before its turn has none. */
  has_begun: boolean;
  phase: number;
  /** The first stage with a step that has not ended; null if all have ended, or there are none yet. */
  stage: number | null;
  /** The steps of the stage that have not started. */
  waiting: number[];
  /** Whether all its running steps are waiting for a source that gives no valid response. */
  is_silent: boolean;
}

/**
 * Whether the entity's next work is only to request exports: it is started early, so that the source exports it while
 * other entities are imported.
 */
const isAhead = ({ entity_type, has_begun, stage }: Next) =>
  !has_begun || (stage !== null && asksForExport(entity_type, stage));

/**
 * A predicate on an entity: everything that its phase depends on has ended. The contents of a group or project depend
 * on the contents of the parent group, and links between entities depend on all the entities that they may lead to. An
 * entity that waits therefore delays only its dependents.
 */
const isNext = sql<boolean>`
  not exists (select from bulk_import_entities above
               where above.id = entities.parent_id and above.state in ('created', 'started') and entities.phase > 0 and above.phase < ${afterContents})
  and not exists (select from bulk_import_entities other
                   where other.bulk_import_id = entities.bulk_import_id and other.state in ('created', 'started')
                     and entities.phase >= ${connections} and other.phase < entities.phase)`;

/**
 * The first entities that have not ended and wait for no other entity, with the next stage of each; none if all have
 * ended.
 */
async function firstEntities(tx: Database, bulk_import_id: number): Promise<Next[]> {
  const { rows } = await sql<Next>`
    select entities.id, entity_type, phase, stage, exists (select from bulk_import_relations where entity_id = entities.id) as has_begun,
           array(select id from bulk_import_relations where entity_id = entities.id and stage = next.stage and state = 'created' order by id) as waiting,
           coalesce((select bool_and(state = 'started' and silent_since is not null) from bulk_import_relations
                      where entity_id = entities.id and stage = next.stage and state in ('created', 'started')), false) as is_silent
      from (select id, entity_type, phase from bulk_import_entities entities
             where bulk_import_id = ${bulk_import_id} and state in ('created', 'started') and ${isNext}
             order by phase, id limit ${maximumEntities + maximumAhead}) entities,
           lateral (select min(stage) as stage from bulk_import_relations where entity_id = entities.id and state in ('created', 'started')) next
     order by phase, id`.execute(tx);
  return rows;
}

/**
 * The entities that may run now: the first ones, except where the source is silent, and those whose exports are
 * requested early.
 */
const inTurn = (first: readonly Next[]): Next[] =>
  first.filter(({ is_silent }) => !is_silent).filter((entity, place) => place < maximumEntities || isAhead(entity));

async function beginEntity(tx: Database, { id, entity_type }: Next): Promise<void> {
  await tx
    .updateTable('bulk_import_entities')
    .set(stamped({ state: 'started' }))
    .where('id', '=', id)
    .execute();
  const rows = stepsOfType(entity_type).map(({ stage, name }) => ({ entity_id: id, relation: name, stage }));
  await tx
    .insertInto('bulk_import_relations')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['entity_id', 'relation']).doNothing())
    .execute();
}

/** A predicate: the entity has failures. */
const entityFailed = sql<boolean>`exists (select from bulk_import_failures where entity_id = bulk_import_entities.id)`;

const endEntity = (tx: Database, id: number, state: State) =>
  tx
    .updateTable('bulk_import_entities')
    .set(stamped({ state, has_failures: entityFailed }))
    .where('id', '=', id)
    .where('state', 'in', running)
    .execute();

/** Ends an entity of which all steps have ended. A project that was imported so is told of as the importer's doing. */
async function finishEntity(tx: Database, id: number): Promise<void> {
  await endEntity(tx, id, 'finished');
  const imported = await tx
    .selectFrom('bulk_import_entities')
    .innerJoin('bulk_imports', 'bulk_imports.id', 'bulk_import_id')
    .innerJoin('users', 'users.id', 'bulk_imports.user_id')
    .select(['project_id', 'users.id as user_id', 'users.name', 'users.email'])
    .where('bulk_import_entities.id', '=', id)
    .executeTakeFirst();
  if (!imported?.project_id) return;
  const { project_id, user_id, name, email } = imported;
  await audit(
    tx,
    {
      event_name: 'project_imported',
      entity: { type: 'Project', id: project_id },
      details: { custom_message: 'Imported from another server' },
    },
    { id: user_id, name, email, class: 'User' },
  );
}

/** Ends an entity that is useless without the failed step, and cancels its other steps. */
async function failEntity(tx: Database, id: number, state: 'failed' | 'timeout'): Promise<void> {
  await sql`
    update bulk_import_relations set state = 'canceled', ended_at = now() where entity_id = ${id} and state in ('created', 'started')`.execute(
    tx,
  );
  await endEntity(tx, id, state);
}

/** Locks a migration that has not ended. @returns whether there is such a migration */
export async function lockRunning(tx: Database, id: number): Promise<boolean> {
  const row = tx.selectFrom('bulk_imports').select('id').where('id', '=', id).where('state', 'in', running);
  return (await row.forNoKeyUpdate().executeTakeFirst()) !== undefined;
}

/** Advances an entity. @returns whether to look again, because it has started, ended or reached its next phase */
async function goOnWith(tx: Database, entity: Next): Promise<boolean> {
  const { id, has_begun, phase, stage, waiting } = entity;
  if (!has_begun) await beginEntity(tx, entity);
  else if (stage === null) await finishEntity(tx, id);
  else if (phaseOf(stage) > phase)
    await tx
      .updateTable('bulk_import_entities')
      .set({ phase: phaseOf(stage) })
      .where('id', '=', id)
      .execute();
  else {
    for (const step_id of waiting) await begin(tx, step_id);
    return false;
  }
  return true;
}

/**
 * Advances a migration: starts the next steps and entities, and ends the completed ones.
 * @param tx a transaction that has not locked a step before
 */
async function goOn(tx: Database, id: number): Promise<void> {
  await tx
    .updateTable('bulk_imports')
    .set(stamped({ state: 'started' }))
    .where('id', '=', id)
    .where('state', '=', 'created')
    .execute();
  for (;;) {
    const entities = await firstEntities(tx, id);
    if (entities.length === 0) return endMigrationBy(tx, id);
    let isChanged = false;
    for (const entity of inTurn(entities)) isChanged = (await goOnWith(tx, entity)) || isChanged;
    if (!isChanged) return;
  }
}

async function begin(tx: Database, step_id: number): Promise<void> {
  await tx
    .updateTable('bulk_import_relations')
    .set({ state: 'started', started_at: sql<string>`coalesce(started_at, now())`, progressed_at: sql<string>`now()` })
    .where('id', '=', step_id)
    .execute();
  await enqueueStep(tx, step_id);
}

/** Ends a migration if all its entities have ended, and notifies the importer. */
async function endMigrationBy(tx: Database, id: number): Promise<void> {
  await sql`
    update bulk_imports
       set state = case when bool.finished then 'finished' when bool.timeout then 'timeout' else 'failed' end,
           has_failures = bool.failures, ended_at = now(), updated_at = now()
      from (select bool_or(state = 'finished') as finished, bool_or(state = 'timeout') as timeout, bool_or(has_failures) as failures
              from bulk_import_entities where bulk_import_id = ${id}) bool
     where id = ${id}`.execute(tx);
  await tellOfEnd.enqueue(tx, { bulk_import_id: id }, { key: String(id) });
}

/** Deletes the project of an entity: without its repository it is useless. */
async function discardProjectOf(tx: Database, entity_id: number): Promise<void> {
  const entity = await tx
    .selectFrom('bulk_import_entities')
    .select('project_id')
    .where('id', '=', entity_id)
    .executeTakeFirst();
  if (entity?.project_id) await discardProject(tx, entity.project_id);
}

/** Advances a migration if it still runs. */
export const advance = (db: Database, id: number): Promise<void> =>
  db.transaction().execute(async (tx) => {
    if (await lockRunning(tx, id)) await goOn(tx, id);
  });

/** Ends a step, and advances its migration. */
export const endStep = (
  db: Database,
  place: { migration_id: number; entity_id: number; step_id: number; name: string },
  state: 'finished' | 'skipped' | 'failed',
): Promise<void> =>
  db.transaction().execute(async (tx) => {
    if (!(await lockRunning(tx, place.migration_id))) return;
    const ended = await tx
      .updateTable('bulk_import_relations')
      .set({ state, ended_at: sql<string>`now()` })
      .where('id', '=', place.step_id)
      .where('state', '=', 'started')
      .returning('id')
      .executeTakeFirst();
    const useless = uselessWithout(place.name);
    if (ended && state === 'failed' && useless) {
      await failEntity(tx, place.entity_id, 'failed');
      if (useless === 'project') await discardProjectOf(tx, place.entity_id);
    }
    await goOn(tx, place.migration_id);
  });

/** How long a step may run without reading or writing anything. */
const maximumDuration = sql`interval '24 hours'`;

/**
 * Ends entities without progress for too long.
 * @returns the ids of their migrations
 */
export async function endStale(db: Database): Promise<void> {
  const { rows } = await sql<{ id: number; bulk_import_id: number }>`
    select distinct entities.id, bulk_import_id from bulk_import_relations steps join bulk_import_entities entities on entities.id = entity_id
     where steps.state = 'started' and progressed_at < now() - ${maximumDuration}`.execute(db);
  for (const { id, bulk_import_id } of rows)
    await db.transaction().execute(async (tx) => {
      if (!(await lockRunning(tx, bulk_import_id))) return;
      await failEntity(tx, id, 'timeout');
      await goOn(tx, bulk_import_id);
    });
}
