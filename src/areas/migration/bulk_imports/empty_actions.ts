/** Ends steps for which the source has no records. There are many of them, so they end in one statement. */
import { sql } from 'kysely';
import { lockRunning } from './run_actions.ts';
import type { StepCall } from './step_definition.ts';
import { needsRecords } from './step_rules.ts';

/**
 * Ends the steps of an entity that have not started and would find no records.
 * @param exports as the source lists them
 */
export async function endEmptySteps(
  { db, migration, entity }: StepCall,
  exports: readonly Record<string, unknown>[],
): Promise<void> {
  const empty = exports.flatMap(({ relation, status, total_objects_count }) =>
    typeof relation === 'string' && needsRecords(relation) && status === 1 && total_objects_count === 0
      ? [relation]
      : [],
  );
  if (empty.length === 0) return;
  await db.transaction().execute(async (tx) => {
    if (!(await lockRunning(tx, migration.id))) return;
    await sql`
      update bulk_import_relations
         set state = 'finished', started_at = coalesce(started_at, now()), ended_at = now(),
             counts = jsonb_build_object(relation, jsonb_build_object('source', 0, 'fetched', 0, 'imported', 0)) || counts
       where entity_id = ${entity.id} and state = 'created' and relation = any(${empty}::text[])`.execute(tx);
  });
}
