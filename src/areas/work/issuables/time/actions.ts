/** Time tracking: estimates and time spent (docs/reference/issues.md). */
import { sql } from 'kysely';
import type { Issuable } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { addSystemNote } from '../../../conversation/notes/index.ts';
import { estimateChanged, timeSpent } from '../system_note_rules.ts';
import { printDuration } from './duration_rules.ts';

const largest_s = 2 ** 31 - 1;

/** @param seconds 0 resets the estimate */
export async function setTimeEstimate(tx: Database, on: Issuable, author_id: number, seconds: number): Promise<void> {
  const { rows } = await sql`
    update ${sql.table(on.kind.table)} set time_estimate_s = ${seconds}, updated_at = now()
     where id = ${on.id} and time_estimate_s <> ${seconds} returning id`.execute(tx);
  if (rows.length > 0) await addSystemNote(tx, on, author_id, estimateChanged(printDuration(seconds)));
}

export interface Spending {
  /** Negative to subtract time. */
  seconds: number;
  summary?: string | undefined;
  /** `YYYY-MM-DD`; defaults to today. */
  spent_on?: string | undefined;
}

/**
 * Adds to the time spent on an item.
 * @returns false if this would subtract more than was spent, or exceed the column
 */
export async function addTimeSpent(
  tx: Database,
  on: Issuable,
  author_id: number,
  { seconds, summary, spent_on }: Spending,
): Promise<boolean> {
  const { rows: changed } = await sql`
    update ${sql.table(on.kind.table)} set total_time_spent_s = total_time_spent_s + ${seconds}, updated_at = now()
     where id = ${on.id} and total_time_spent_s::bigint + ${seconds} between 0 and ${largest_s} returning id`.execute(
    tx,
  );
  if (changed.length === 0) return false;
  const printed = printDuration(seconds);
  if (printed === null) return true;
  await sql`
    insert into timelogs (${sql.ref(on.kind.column)}, user_id, time_spent_s, summary, spent_at)
    values (${on.id}, ${author_id}, ${seconds}, ${summary ?? null}, coalesce(${spent_on ?? null}::timestamptz, now()))`.execute(
    tx,
  );
  await addSystemNote(tx, on, author_id, timeSpent(printed, seconds < 0, spent_on));
  return true;
}

/** Resets the time spent on an item. The log stays, with an additional entry that cancels it out. */
export async function resetTimeSpent(tx: Database, on: Issuable, author_id: number): Promise<void> {
  const table = sql.table(on.kind.table);
  const { rows } = await sql`
    with before as (select id, total_time_spent_s from ${table} where id = ${on.id} and total_time_spent_s <> 0 for no key update),
    logged as (
      insert into timelogs (${sql.ref(on.kind.column)}, user_id, time_spent_s) select id, ${author_id}, -total_time_spent_s from before
    )
    update ${table} changed set total_time_spent_s = 0, updated_at = now() from before where changed.id = before.id
    returning changed.id`.execute(tx);
  if (rows.length > 0) await addSystemNote(tx, on, author_id, 'removed time spent');
}
