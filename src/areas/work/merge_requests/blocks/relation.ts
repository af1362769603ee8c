/** How blocks between merge requests leave and arrive (docs/reference/relations_export.md#merge_request_blocks). */
import { sql } from 'kysely';
import { mergeRequestKind, rowsWithPlaces } from '../../../../access/index.ts';
import { type Database, takeTurn } from '../../../../db/index.ts';
import {
  type Arrival,
  type ArrivingRow,
  type RecordKind,
  type Relation,
  required,
  shown,
  time,
} from '../../../../relations/index.ts';
import { itemsAt } from '../../issuables/links/relation.ts';
import { blocksTurn, blockTexts, maximumBlocks } from './actions.ts';

const memberOf = (end: 'blocking_id' | 'blocked_id', column: 'iid' | 'project_id') => sql`(
  select merge_requests.${sql.ref(column)} from merge_requests where merge_requests.id = merge_request_blocks.${sql.ref(end)})`;

async function endsOf(tx: Database, arrival: Arrival, rows: readonly ArrivingRow[]) {
  const blocked = rows.map(({ value }) => ({ iid: value.blocked_iid, path: null }));
  const blocking = rows.map(({ value }) => ({ iid: value.blocking_iid, path: value.blocking_full_path ?? null }));
  return {
    blocked: await itemsAt(tx, mergeRequestKind, arrival, blocked),
    blocking: await itemsAt(tx, mergeRequestKind, arrival, blocking),
  };
}

/** The dependencies of these merge requests and, transitively, of their dependencies, by merge request. */
async function waitedFor(tx: Database, ids: readonly number[]): Promise<Map<number, number[]>> {
  const { rows } = await sql<{ blocked_id: number; blocking_id: number }>`
    with recursive before (id) as (
      select unnest(${ids}::bigint[])
      union
      select blocking_id from merge_request_blocks join before on blocked_id = before.id
    )
    select blocked_id, blocking_id from merge_request_blocks join before on blocked_id = before.id`.execute(tx);
  const waits = new Map<number, number[]>();
  for (const { blocked_id, blocking_id } of rows)
    waits.set(blocked_id, [...(waits.get(blocked_id) ?? []), blocking_id]);
  return waits;
}

/** Whether a merge request depends on another one, directly or indirectly. */
function waitsFor(waits: ReadonlyMap<number, number[]>, id: number, other: number): boolean {
  const [seen, next] = [new Set([id]), [id]];
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    if (at === other) return true;
    for (const before of waits.get(at) ?? []) if (!seen.has(before)) next.push(before) && seen.add(before);
  }
  return false;
}

/** The reason for refusing a block, given the existing ones; an accepted block is added to them. */
function reasonAgainst(waits: Map<number, number[]>, blocked_id: number, blocking_id: number): string | undefined {
  if (blocked_id === blocking_id) return blockTexts.itself;
  const own = waits.get(blocked_id) ?? [];
  if (own.length >= maximumBlocks) return blockTexts.many;
  if (waitsFor(waits, blocking_id, blocked_id)) return blockTexts.ring;
  waits.set(blocked_id, [...own, blocking_id]);
  return undefined;
}

/** A merge request of the project that depends on another one, which may be in another project. */
const block: RecordKind = {
  table: 'merge_request_blocks',
  isOwned: ({ owner }) => sql`${memberOf('blocked_id', 'project_id')} = ${owner.id}`,
  isVisible: ({ caller }) =>
    sql`(select count(*) from ${rowsWithPlaces(mergeRequestKind)}
          where merge_requests.id in (merge_request_blocks.blocking_id, merge_request_blocks.blocked_id) and ${mergeRequestKind.isVisible(caller)}) = 2`,
  title: 'blocked_iid',
  members: {
    blocked_iid: shown(memberOf('blocked_id', 'iid')),
    blocking_iid: shown(memberOf('blocking_id', 'iid')),
    blocking_full_path: shown(
      sql`(select full_path from projects where id = ${memberOf('blocking_id', 'project_id')} and id <> ${memberOf('blocked_id', 'project_id')})`,
    ),
    created_at: required('created_at', time),
  },
  stays: {},
  derives: {
    columns: { blocking_id: 'bigint', blocked_id: 'bigint' },
    derive: async (rows, arrival, tx) => {
      const { blocked, blocking } = await endsOf(tx, arrival, rows);
      // Serialised as in `addBlock`, so that concurrent additions cannot create a cycle together.
      await takeTurn(tx, blocksTurn);
      const waits = await waitedFor(
        tx,
        [...blocked, ...blocking].filter((id) => id !== undefined),
      );
      const reasons = new Map<ArrivingRow, string>();
      for (const [index, each] of rows.entries()) {
        const [blocked_id, blocking_id] = [blocked[index], blocking[index]];
        Object.assign(each.row, { blocked_id, blocking_id });
        const reason =
          blocked_id === undefined || blocking_id === undefined
            ? 'names a merge request that is not here'
            : reasonAgainst(waits, blocked_id, blocking_id);
        if (reason !== undefined) reasons.set(each, reason);
      }
      return reasons;
    },
  },
};

/** The blocks of the merge requests of a project. */
export const mergeRequestBlocks: Relation = { name: 'merge_request_blocks', kind: block, plan: 'premium' };
