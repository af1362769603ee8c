/** What is read of epics. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Static } from 'typebox';
import { isVisibleEpic, type MaybeCaller } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import { labelsByEpic } from '../../planning/labels/index.ts';
import { type EpicForm, type EpicInIssue, type EpicReply, presentEpic } from './present.ts';

export interface EpicRow {
  id: number;
  iid: number;
  group_id: number;
  title: string;
  description: string | null;
  state: 'opened' | 'closed';
  confidential: boolean;
  color: string;
  start_date_is_fixed: boolean;
  start_date_fixed: string | null;
  inherited_start_date: string | null;
  due_date_is_fixed: boolean;
  due_date_fixed: string | null;
  inherited_due_date: string | null;
  closed_at: string | null;
  upvotes: number;
  downvotes: number;
  created_at: string;
  updated_at: string;
  /** Of its group. */
  full_path: string;
  author: UserBasicRow | null;
  /** Where the caller may read it. */
  parent: { id: number; iid: number; group_id: number } | null;
  /** Whether the caller is told of what happens to it. */
  subscribed: boolean;
}

/**
 * A predicate on rows of `epics`: the user is told of what happens to the epic, because he has said so or takes part in it.
 * @param epics the name of the rows in the statement
 */
export function isSubscribedToEpic(user_id: number, epics = 'epics'): RawBuilder<SqlBool> {
  const id = sql.ref(`${epics}.id`);
  return sql`coalesce(
    (select subscribed from subscriptions where user_id = ${user_id} and epic_id = ${id}),
    ${sql.ref(`${epics}.author_id`)} = ${user_id}
      or exists (select from notes where epic_id = ${id} and author_id = ${user_id} and not system)
      or exists (select from user_mentions where epic_id = ${id} and user_id = ${user_id}),
    false)`;
}

const columns = sql.raw(
  [
    'id iid group_id title description state confidential color start_date_is_fixed start_date_fixed inherited_start_date',
    'due_date_is_fixed due_date_fixed inherited_due_date closed_at upvotes downvotes created_at updated_at',
  ]
    .join(' ')
    .split(' ')
    .map((column) => `shown.${column}`)
    .join(', '),
);

/** Epics by their ids, in the order of these; those that are gone are left out. It does not ask whether the caller may read them. */
async function epicRows(
  db: Database,
  caller: MaybeCaller,
  ids: readonly number[],
  withSubscription: boolean,
): Promise<EpicRow[]> {
  const { rows } = await sql<EpicRow>`
    select ${columns}, groups.full_path::text as full_path,
           case when authors.id is not null then ${userBasicJson('authors')} end as author,
           (select jsonb_build_object('id', epics.id, 'iid', epics.iid, 'group_id', epics.group_id)
              from epics join namespaces on namespaces.id = epics.group_id
             where epics.id = shown.parent_id and ${isVisibleEpic(caller)}) as parent,
           ${withSubscription && caller ? isSubscribedToEpic(caller.id, 'shown') : sql`false`} as subscribed
      from unnest(${ofAnyLength(ids, 'bigint[]')}) with ordinality asked(id, place)
           join epics shown on shown.id = asked.id
           join namespaces groups on groups.id = shown.group_id
           left join users authors on authors.id = shown.author_id
     order by asked.place`.execute(db);
  return rows;
}

/**
 * Epics as replies, with a fixed number of statements however many there are.
 * @param services `db` may be a transaction
 * @param caller who reads: what he may not know of is left out of them. Whether he may read the epics themselves has been asked before
 * @param ids ids of epics; the replies come in this order, without those that are gone
 */
export async function presentEpics(
  { db, url }: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  ids: readonly number[],
  form: EpicForm = {},
): Promise<EpicReply[]> {
  const rows = await epicRows(db, caller, ids, form.single === true);
  const labels = await labelsByEpic(db, ids);
  return rows.map((row) => presentEpic(url, row, labels.get(row.id) ?? [], form));
}

/**
 * One epic as the reply of an operation on it.
 * @throws Error when it is gone
 */
export async function presentSingleEpic(
  services: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  { id, group_id }: { id: number; group_id: number },
): Promise<EpicReply> {
  const [epic] = await presentEpics(services, caller, [id], { relative_to: group_id, single: true });
  if (!epic) throw new Error(`the epic ${id} is gone`);
  return epic;
}

/**
 * Epics as their issues show them, in one statement.
 * @returns by the id of the epic; those that the caller may not read are left out
 */
export async function epicsInIssues(
  db: Database,
  caller: MaybeCaller,
  ids: readonly number[],
): Promise<Map<number, Static<typeof EpicInIssue>>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('epics')
    .innerJoin('namespaces', 'namespaces.id', 'epics.group_id')
    .select(['epics.id', 'epics.iid', 'epics.title', 'epics.group_id', sql<string>`namespaces.full_path::text`.as('full_path')])
    .where(sql<boolean>`epics.id = any(${ids}::bigint[])`)
    .where(isVisibleEpic(caller))
    .execute();
  return new Map(rows.map(({ full_path, ...epic }) => [epic.id, { ...epic, url: `/groups/${full_path}/-/epics/${epic.iid}` }]));
}

/** What notes and rules need of an epic. */
export interface EpicReference {
  id: number;
  iid: number;
  group_id: number;
  full_path: string;
  confidential: boolean;
  title: string;
}

const referenceRows = (db: Database) =>
  db
    .selectFrom('epics')
    .innerJoin('namespaces', 'namespaces.id', 'epics.group_id')
    .select(['epics.id', 'epics.iid', 'epics.group_id', 'epics.confidential', 'epics.title'])
    .select(sql<string>`namespaces.full_path::text`.as('full_path'));

/** An epic, if the caller may read it. */
export const visibleEpic = (db: Database, caller: MaybeCaller, id: number): Promise<EpicReference | undefined> =>
  referenceRows(db).where('epics.id', '=', id).where(isVisibleEpic(caller)).executeTakeFirst();

/**
 * How an epic is written in a text.
 * @param from the group in which the text stands: there `&1` says enough
 */
export const epicReference = ({ iid, group_id, full_path }: EpicReference, from: number): string =>
  group_id === from ? `&${iid}` : `${full_path}&${iid}`;

/** An epic whether anybody may read it or not, for what is noted. */
export const epicNamed = (db: Database, id: number): Promise<EpicReference> =>
  referenceRows(db).where('epics.id', '=', id).executeTakeFirstOrThrow();
