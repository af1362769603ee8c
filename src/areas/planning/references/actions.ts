/** What points to labels, milestones and iterations, by the foreign keys of the schema (docs/architecture.md#what-points-to-what). */
import { type Database, referencesTo, replaceReferences } from '../../../db/index.ts';

export type PlanningTable = 'labels' | 'milestones' | 'iterations';

/**
 * Has everything that names some labels or milestones name another one. A row that could not stand beside one that is there is left to be deleted with what it names.
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
