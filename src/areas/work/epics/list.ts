/** Reading lists of epics: first the ids of a page, from indexes as far as they go, then what replies say of these alone. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Group, isMemberOfGroup, isVisibleGroup, levels, type MaybeCaller } from '../../../access/index.ts';
import { type Database, plannedAnew } from '../../../db/index.ts';
import { type Page, type Paging, pageAsked, type Services, totalOf } from '../../../http/index.ts';
import { type Filter, filtersFor } from './filters.ts';
import type { EpicListInput } from './list_parameters.ts';
import type { EpicReply } from './present.ts';
import { presentEpics } from './queries.ts';

/** Which epics a list is of. */
interface Selection {
  group_ids: readonly number[];
  filters: readonly Filter[];
  /** Predicates besides the groups. */
  where: RawBuilder<SqlBool>;
}

/** The groups whose epics are listed, as far as the caller may know of them, and those of which he sees all. */
async function groupsOf(db: Database, caller: MaybeCaller, group: Group, input: EpicListInput) {
  const below = input.include_descendant_groups
    ? sql`namespaces.traversal_ids @> ${[group.id]}::bigint[]`
    : sql`namespaces.id = ${group.id}`;
  const above = input.include_ancestor_groups ? sql`or namespaces.id = any(${group.traversal_ids}::bigint[])` : sql``;
  const seesAll = caller?.admin ? sql`true` : isMemberOfGroup(caller, levels.planner);
  // The group itself was granted already.
  const { rows } = await sql<{ id: number; sees_all: boolean }>`
    select namespaces.id, ${seesAll} as sees_all from namespaces
     where namespaces.kind = 'group' and (${below} ${above}) and (namespaces.id = ${group.id} or ${isVisibleGroup(caller)})`.execute(
    db,
  );
  return rows;
}

async function selectionOf(db: Database, caller: MaybeCaller, group: Group, input: EpicListInput): Promise<Selection> {
  const groups = await groupsOf(db, caller, group, input);
  const filters = await filtersFor(db, caller, input);
  const open = groups.filter(({ sees_all }) => sees_all).map(({ id }) => id);
  const isOpen =
    open.length === groups.length ? sql`true` : sql`(not epics.confidential or epics.group_id = any(${open}::bigint[]))`;
  const where = sql<SqlBool>`${sql.join([isOpen, ...filters.map((filter) => filter.where)], sql` and `)}`;
  return { group_ids: groups.map(({ id }) => id), filters, where };
}

const columns = { created_at: sql`epics.created_at`, updated_at: sql`epics.updated_at`, title: sql`lower(epics.title)` };

/** Below this many rows it is quicker to take the first of each group than to look through all groups at once. */
const mostOfGroups = 20_000;

const ofGroups = ({ group_ids }: Selection) =>
  group_ids.length === 1 ? sql`epics.group_id = ${group_ids[0]}` : sql`epics.group_id = any(${group_ids}::bigint[])`;

async function idsOfPage(
  db: Database,
  selection: Selection,
  { order_by, sort }: EpicListInput,
  { offset, limit }: { offset: number; limit: number },
): Promise<number[]> {
  const { group_ids, filters, where } = selection;
  const [key, direction, end] = [columns[order_by], sql.raw(sort), offset + limit];
  // Those that are equal come by id, the newest first.
  const first = (inGroup: RawBuilder<unknown>) => sql`
    select epics.id, ${key} as key from epics where ${inGroup} and ${where} order by ${key} ${direction}, epics.id desc limit ${sql.lit(end)}`;
  const isLoose = filters.every(({ isNarrow }) => !isNarrow);
  const firsts =
    group_ids.length > 1 && isLoose && group_ids.length * end <= mostOfGroups
      ? sql`select first.* from unnest(${group_ids}::bigint[]) place(id), lateral (${first(sql`epics.group_id = place.id`)}) first`
      : first(ofGroups(selection));
  const { rows } = await sql<{ id: number }>`${plannedAnew}
    select id from (${firsts}) firsts order by key ${direction}, id desc limit ${sql.lit(limit)} offset ${sql.lit(offset)}`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

async function countOf(db: Database, selection: Selection, most: number): Promise<number> {
  const { rows } = await sql<{ total: number }>`${plannedAnew}
    select count(*) as total from (select from epics where ${ofGroups(selection)} and ${selection.where} limit ${sql.lit(most)}) counted`.execute(
    db,
  );
  return rows[0]!.total;
}

/** The furthest row that is read; behind it nobody reads by pages. */
const furthest = 2 ** 53 - 1;

/**
 * A page of epics as replies, in a fixed number of statements however long it is.
 * @param group the group whose epics they are, and that of those above and below it as `input` says; the caller may know of it
 * @throws ApiError 400 for too many terms to search for, and as `pageAsked`
 */
export async function listEpics(
  services: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  group: Group,
  input: EpicListInput & Paging,
): Promise<Page<EpicReply>> {
  const { db } = services;
  const { page, per_page, offset } = pageAsked(input);
  const selection = await selectionOf(db, caller, group, input);
  const ids = offset > furthest - per_page ? [] : await idsOfPage(db, selection, input, { offset, limit: per_page + 1 });
  const has_more = ids.length > per_page;
  const form = { relative_to: group.id, with_labels_details: input.with_labels_details };
  const items = await presentEpics(services, caller, ids.slice(0, per_page), form);
  const total = await totalOf({ offset, shown: items.length, has_more }, (most) => countOf(db, selection, most));
  return { items, page, per_page, has_more, ...total };
}
