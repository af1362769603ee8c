/** Queries for freeze periods, for endpoints and pushes. */
import type { Database } from '../../../db/index.ts';
import { type FreezeState, freezeState } from './rules.ts';

/**
 * The most periods that a project can have. Every push of a branch evaluates all of them, so this bounds the cost of a push.
 */
export const maximumPeriods = 100;

/** Whether a project is frozen, by which period (the oldest if there are several), and when that changes. */
export async function freezeStateOf(
  db: Database,
  project_id: number,
  instant = new Date(),
): Promise<FreezeState<{ id: number }>> {
  const periods = await db
    .selectFrom('freeze_periods')
    .select(['id', 'freeze_start', 'freeze_end', 'cron_timezone'])
    .where('project_id', '=', project_id)
    .orderBy('created_at')
    .orderBy('id')
    .limit(maximumPeriods)
    .execute();
  return freezeState(periods, instant);
}
