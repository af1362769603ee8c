/** Internal ids (iids), which number the items of a project or group: `#1`, `#2`, … */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './connect.ts';

/** The project or group that owns a sequence. */
export type NumberOwner = { project_id: number } | { namespace_id: number };
export type NumberUsage =
  | 'issues'
  | 'milestones'
  | 'epics'
  | 'iterations'
  | 'merge_requests'
  | 'deployments'
  | 'pipelines'
  | 'feature_flags'
  | 'feature_flag_user_lists';

const columnsOf = (owner: NumberOwner) =>
  'project_id' in owner
    ? { project_id: owner.project_id, namespace_id: null }
    : { project_id: null, namespace_id: owner.namespace_id };

/**
 * A statement that takes numbers, alone or as part of another. It locks the sequence until the transaction ends, so that a rollback leaves no gap.
 * @param last_value how many to take; or, if `chosen`, a chosen number after which numbering continues
 * @returns `last_value`, the last number taken
 */
function numbersTaken(
  owner: NumberOwner,
  usage: NumberUsage,
  last_value: number,
  chosen: boolean,
): RawBuilder<{ last_value: number }> {
  const { project_id, namespace_id } = columnsOf(owner);
  return sql`
    insert into internal_ids as known (project_id, namespace_id, usage, last_value)
    values (${project_id}, ${namespace_id}, ${usage}, ${last_value}::integer)
    on conflict on constraint internal_ids_key do update
      set last_value = ${chosen ? sql`greatest(known.last_value, excluded.last_value)` : sql`known.last_value + excluded.last_value`}
    returning last_value`;
}

/**
 * The part of a statement that takes one number.
 * @param chosen a chosen number, which is free; by default the next one
 * @returns common table expressions; `number` has the column `iid`
 */
export const iidTaken = (
  owner: NumberOwner,
  usage: NumberUsage,
  chosen: number | undefined,
): RawBuilder<{ iid: number }> => sql`
  taken as (${numbersTaken(owner, usage, chosen ?? 1, chosen !== undefined)}),
  number as (select ${chosen === undefined ? sql`last_value` : sql`${chosen}::integer`} as iid from taken)`;

/**
 * Takes the next number. It locks the sequence until the transaction ends, so call it as late as possible.
 * @returns the number, from 1
 */
export const nextIid = (tx: Database, owner: NumberOwner, usage: NumberUsage): Promise<number> =>
  nextIids(tx, owner, usage, 1);

/**
 * Takes several consecutive numbers.
 * @returns the first of them
 */
export async function nextIids(tx: Database, owner: NumberOwner, usage: NumberUsage, count: number): Promise<number> {
  const { rows } = await numbersTaken(owner, usage, count, false).execute(tx);
  return rows[0]!.last_value - count + 1;
}

/** Sets a sequence to continue after a number that was assigned elsewhere. */
export async function raiseIid(tx: Database, owner: NumberOwner, usage: NumberUsage, iid: number): Promise<void> {
  await numbersTaken(owner, usage, iid, true).execute(tx);
}
