/**
 * Replacing references to labels, milestones and iterations, by the foreign keys of the schema
 * (docs/architecture.md#what-points-to-what).
 */
import { type Database, referencesTo, replaceReferences } from '../../../db/index.ts';

export type PlanningTable = 'labels' | 'milestones' | 'iterations';

/**
 * Replaces all references to some labels or milestones with references to another one. A row that would conflict with
 * an existing one is not changed, and is deleted together with the old label or milestone.
 * @param tx a transaction that has locked the rows, and deletes those in `from` afterwards
 */
export async function moveReferences(
  tx: Database,
  table: PlanningTable,
  from: readonly number[],
  to: number,
): Promise<void> {
  const replaced = from.map((id) => ({ id, new_id: to }));
  for (const reference of await referencesTo(tx, table)) await replaceReferences(tx, reference, { replaced });
}
