/** Time that an issue is to take, and has taken (issues.md section 9). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { addSystemNote } from '../../conversation/notes/index.ts';
import { printDuration } from '../issuables/duration_rules.ts';
import { estimateChanged, timeSpent } from '../issuables/system_note_rules.ts';

const largest_s = 2 ** 31 - 1;

/** @param seconds 0 takes the estimate away */
export async function setTimeEstimate(tx: Database, issue_id: number, author_id: number, seconds: number): Promise<void> {
  const changed = await tx
    .updateTable('issues')
    .set({ time_estimate_s: seconds, updated_at: sql`now()` })
    .where('id', '=', issue_id)
    .where('time_estimate_s', '<>', seconds)
    .returning('id')
    .executeTakeFirst();
  if (changed) await addSystemNote(tx, { issue_id }, author_id, estimateChanged(printDuration(seconds)));
}

export interface Spending {
  /** Below zero takes time back. */
  seconds: number;
  summary?: string | undefined;
  /** `YYYY-MM-DD`; now where it is left out. */
  spent_on?: string | undefined;
}

/**
 * Adds to the time that an issue has taken.
 * @returns whether it could be: no more can be taken back than was spent, and no more added than can be counted
 */
export async function addTimeSpent(
  tx: Database,
  issue_id: number,
  author_id: number,
  { seconds, summary, spent_on }: Spending,
): Promise<boolean> {
  const changed = await tx
    .updateTable('issues')
    .set({ total_time_spent_s: sql`total_time_spent_s + ${seconds}`, updated_at: sql`now()` })
    .where('id', '=', issue_id)
    .where(sql<boolean>`total_time_spent_s::bigint + ${seconds} between 0 and ${largest_s}`)
    .returning('id')
    .executeTakeFirst();
  if (!changed) return false;
  const printed = printDuration(seconds);
  if (printed === null) return true;
  const spent_at = spent_on === undefined ? {} : { spent_at: spent_on };
  await tx
    .insertInto('timelogs')
    .values({ issue_id, user_id: author_id, time_spent_s: seconds, summary: summary ?? null, ...spent_at })
    .execute();
  await addSystemNote(tx, { issue_id }, author_id, timeSpent(printed, seconds < 0, spent_on));
  return true;
}

/** Takes back all the time that an issue has taken. What was logged stays, with one more line that makes it up. */
export async function resetTimeSpent(tx: Database, issue_id: number, author_id: number): Promise<void> {
  const { rows } = await sql`
    with before as (select id, total_time_spent_s from issues where id = ${issue_id} and total_time_spent_s <> 0 for no key update),
    logged as (insert into timelogs (issue_id, user_id, time_spent_s) select id, ${author_id}, -total_time_spent_s from before)
    update issues set total_time_spent_s = 0, updated_at = now() from before where issues.id = before.id returning issues.id`.execute(
    tx,
  );
  if (rows.length > 0) await addSystemNote(tx, { issue_id }, author_id, 'removed time spent');
}
