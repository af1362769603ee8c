/** Inserting the rows of a new issuable. */
import { type RawBuilder, sql } from 'kysely';
import type { IssuableKind } from '../../../access/index.ts';
import { type Database, iidTaken, type NumberOwner } from '../../../db/index.ts';
import { recording } from '../../activity/events/index.ts';
import { labelEventsOf } from '../../conversation/resource_events/index.ts';

export interface Insertion {
  /** The id of its project or group. */
  place_id: number;
  /** The columns of its kind, with values. */
  columns: Readonly<Record<string, unknown>>;
  author_id: number | null;
  label_ids: readonly number[];
  assignee_ids?: readonly number[];
  /** ISO 8601; defaults to now. */
  created_at?: string | undefined;
  /** A chosen iid that is not in use. */
  iid?: number | undefined;
  /** Whether to record activity and events, for the item and its labels. False for an item that was moved here. */
  is_news: boolean;
  /** Further common table expressions of the statement, each after a comma; they can refer to the row as `added`. */
  also?: RawBuilder<unknown> | undefined;
}

const ownerOf = ({ place_column }: IssuableKind, id: number): NumberOwner =>
  place_column === 'project_id' ? { project_id: id } : { namespace_id: id };

/**
 * Inserts an item and the rows that every item has, in one statement: the counter of its number is locked only during this statement, so concurrent creators never wait for a
 * client or for this process.
 * @param db the database itself if this is the only statement, otherwise a transaction
 */
export async function insertIssuable(
  db: Database,
  kind: IssuableKind,
  insertion: Insertion,
): Promise<{ id: number; iid: number }> {
  const { place_id, author_id, label_ids, assignee_ids = [], created_at, iid, is_news, also } = insertion;
  const columns = Object.entries({ ...insertion.columns, [kind.place_column]: place_id, author_id }).filter(
    ([, value]) => value !== undefined,
  );
  const [names, values] = [columns.map(([name]) => sql.ref(name)), columns.map(([, value]) => sql`${value}`)];
  const bears = (table: string, column: string, ids: readonly number[]) => sql`
    insert into ${sql.table(table)} (${sql.ref(kind.column)}, ${sql.ref(column)}) select added.id, unnest(${ids}::bigint[]) from added`;
  const { rows } = await sql<{ id: number; iid: number }>`
    with ${iidTaken(ownerOf(kind, place_id), kind.table, iid)},
    added as (
      insert into ${sql.table(kind.table)} (${sql.join(names)}, iid, created_at, updated_at)
      select ${sql.join(values)}, number.iid, moment, moment from number, coalesce(${created_at ?? null}::timestamptz, now()) moment
      returning id, iid, created_at
    ),
    labelled as (${bears(kind.labels, 'label_id', label_ids)})
    ${kind.assignees ? sql`, assigned as (${bears(kind.assignees, 'user_id', assignee_ids)})` : sql``}
    ${is_news ? sql`, ${newsOf(kind, place_id, author_id, label_ids)}` : sql``}
    ${also ?? sql``}
    select id, iid from added`.execute(db);
  return rows[0]!;
}

function newsOf(kind: IssuableKind, place_id: number, author_id: number | null, label_ids: readonly number[]) {
  const project_id = kind.place_column === 'project_id' ? place_id : null;
  const labels = sql`
    select added.id, ${author_id}::bigint, unnest(${label_ids}::bigint[]), 'add', added.created_at from added`;
  const event = sql`
    select ${project_id}::bigint, ${author_id}::bigint, 'created', ${kind.type}, added.id, added.created_at from added
     where ${author_id}::bigint is not null`;
  const active = project_id === null ? [] : [project_id];
  return sql`label_events as (${labelEventsOf(kind, labels)}), ${recording(event, active, author_id === null ? [] : [author_id])}`;
}
