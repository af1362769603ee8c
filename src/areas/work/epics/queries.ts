/** Queries for epics. */
import { type RawBuilder, sql } from 'kysely';
import { epicKind, type Group, isVisibleEpic, type MaybeCaller } from '../../../access/index.ts';
import { type Database, isAmong, ofAnyLength } from '../../../db/index.ts';
import { columnsOf, type RowOf } from '../../../fields/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import { borneLabels, type LabelRow } from '../../planning/labels/index.ts';
import { isSubscribed } from '../issuables/queries.ts';
import { epicFields } from './fields.ts';

export interface EpicRow extends RowOf<typeof epicFields, 'epics'> {
  inherited_start_date: string | null;
  inherited_due_date: string | null;
  /** The path of its group. */
  full_path: string;
  author: UserBasicRow | null;
  /** Set if the caller may read it. */
  parent: { id: number; iid: number; group_id: number } | null;
  labels: LabelRow[];
  /** Whether the caller is subscribed to it. */
  subscribed: boolean;
}

/**
 * The inherited dates of epics: the earliest start and the latest end of the milestones of their issues and of their children. A child with a fixed date contributes that date
 * instead of its inherited one.
 * @param ids the ids of the epics, as an array
 * @returns a recursive common table expression `inherited` with the columns id, start_date and due_date
 */
const inheritedDates = (ids: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  tree as (
    select id as root_id, id, true as hands_start, true as hands_due, null::date as start_date, null::date as due_date from unnest(${ids}) id
    union all
    select root_id, epics.id, hands_start and not start_date_is_fixed, hands_due and not due_date_is_fixed,
           case when hands_start and start_date_is_fixed then start_date_fixed end, case when hands_due and due_date_is_fixed then due_date_fixed end
      from tree join epics on epics.parent_id = tree.id
     where hands_start or hands_due
  ),
  inherited as (
    select root_id as id,
           least(min(tree.start_date), min(of_issues.start_date) filter (where hands_start)) as start_date,
           greatest(max(tree.due_date), max(of_issues.due_date) filter (where hands_due)) as due_date
      from tree left join lateral (
             select min(milestones.start_date) as start_date, max(milestones.due_date) as due_date
               from epic_issues join issues on issues.id = epic_issues.issue_id join milestones on milestones.id = issues.milestone_id
              where epic_issues.epic_id = tree.id and (hands_start or hands_due)) of_issues on true
     group by root_id
  )`;

/** Epics by id, in the given order, without deleted ones. Does not check whether the caller may read them. */
export async function epicRows(
  db: Database,
  caller: MaybeCaller,
  ids: readonly number[],
  withSubscription: boolean,
): Promise<EpicRow[]> {
  const asked = sql`${ofAnyLength(ids, 'bigint[]')}`;
  const { rows } = await sql<EpicRow>`
    with recursive ${inheritedDates(asked)}
    select ${columnsOf(epicFields, 'shown')}, inherited.start_date as inherited_start_date, inherited.due_date as inherited_due_date, groups.full_path::text as full_path,
           case when authors.id is not null then ${userBasicJson('authors')} end as author,
           (select jsonb_build_object('id', epics.id, 'iid', epics.iid, 'group_id', epics.group_id)
              from epics join namespaces on namespaces.id = epics.group_id
             where epics.id = shown.parent_id and ${isVisibleEpic(caller)}) as parent,
           ${borneLabels(epicKind, 'shown')} as labels,
           ${withSubscription && caller ? isSubscribed(epicKind, caller.id, 'shown') : sql`false`} as subscribed
      from unnest(${asked}) with ordinality asked(id, place)
           join epics shown on shown.id = asked.id
           join inherited on inherited.id = shown.id
           join namespaces groups on groups.id = shown.group_id
           left join users authors on authors.id = shown.author_id
     order by asked.place`.execute(db);
  return rows;
}

/** An epic in the reply for its issues. */
export interface EpicOfIssue {
  id: number;
  iid: number;
  title: string;
  url: string;
  group_id: number;
}

/**
 * The epics of issues, in one statement.
 * @returns epics by id, without those that the caller may not read
 */
export async function epicsInIssues(
  db: Database,
  caller: MaybeCaller,
  ids: readonly number[],
): Promise<Map<number, EpicOfIssue>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('epics')
    .innerJoin('namespaces', 'namespaces.id', 'epics.group_id')
    .select([
      'epics.id',
      'epics.iid',
      'epics.title',
      'epics.group_id',
      sql<string>`namespaces.full_path::text`.as('full_path'),
    ])
    .where(isAmong('epics.id', ids, 'bigint[]'))
    .where(isVisibleEpic(caller))
    .execute();
  return new Map(rows.map(({ full_path, ...epic }) => [epic.id, { ...epic, url: epicKind.page(full_path, epic.iid) }]));
}

/** An epic with the columns that notes and rules need. */
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

/** An epic, without a check of read access, for system notes. */
export const epicNamed = (db: Database, id: number): Promise<EpicReference> =>
  referenceRows(db).where('epics.id', '=', id).executeTakeFirstOrThrow();

/** The id of the epic with this iid, if it exists. Does not check whether the caller may read it. */
export async function idOfEpic(db: Database, { id }: Pick<Group, 'id'>, iid: number): Promise<number | undefined> {
  const query = db.selectFrom('epics').select('id').where('group_id', '=', id);
  return (await query.where(sql<boolean>`iid = ${iid}::bigint`).executeTakeFirst())?.id;
}
