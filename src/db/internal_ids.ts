/** Numbers that count inside a project or group: `#1`, `#2`, … */
import { sql } from 'kysely';
import type { Database } from './connect.ts';

/** Whose numbers they are. */
export type NumberOwner = { project_id: number } | { namespace_id: number };
export type NumberUsage = 'issues' | 'milestones' | 'epics' | 'iterations';

const columnsOf = (owner: NumberOwner) =>
  'project_id' in owner
    ? { project_id: owner.project_id, namespace_id: null }
    : { project_id: null, namespace_id: owner.namespace_id };

/**
 * Takes the next number. Until the transaction ends nobody else gets one of this owner, so that none is left out when it fails: take it last.
 * @returns the number, from 1
 */
export const nextIid = (tx: Database, owner: NumberOwner, usage: NumberUsage): Promise<number> => nextIids(tx, owner, usage, 1);

/**
 * Takes several numbers that follow each other.
 * @returns the first of them
 */
export async function nextIids(tx: Database, owner: NumberOwner, usage: NumberUsage, count: number): Promise<number> {
  const { project_id, namespace_id } = columnsOf(owner);
  const { rows } = await sql<{ first: number }>`
    insert into internal_ids as known (project_id, namespace_id, usage, last_value) values (${project_id}, ${namespace_id}, ${usage}, ${count})
    on conflict on constraint internal_ids_key do update set last_value = known.last_value + excluded.last_value
    returning last_value - ${count}::integer + 1 as first`.execute(tx);
  return rows[0]!.first;
}

/**
 * Takes a number that somebody has chosen, so that counting goes on behind it.
 * @param iid whose being free is for the caller to see to
 */
export async function claimIid(tx: Database, owner: NumberOwner, usage: NumberUsage, iid: number): Promise<void> {
  const { project_id, namespace_id } = columnsOf(owner);
  await sql`
    insert into internal_ids as known (project_id, namespace_id, usage, last_value) values (${project_id}, ${namespace_id}, ${usage}, ${iid})
    on conflict on constraint internal_ids_key do update set last_value = greatest(known.last_value, excluded.last_value)`.execute(
    tx,
  );
}
