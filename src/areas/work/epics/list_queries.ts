/** Lists of epics. */
import { type SqlBool, sql } from 'kysely';
import {
  epicKind,
  type Group,
  isMemberOfGroup,
  isVisibleGroup,
  levels,
  type MaybeCaller,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Page, Services } from '../../../http/index.ts';
import { type Paging, pageOfSelection, type View } from '../../../lists/index.ts';
import { type Listable, type Listing as ListingOf, selectionOf } from '../issuables/selection_queries.ts';
import { epicFilters, namesIn } from './filters.ts';
import type { EpicListInput } from './list_parameters.ts';
import { type EpicReply, presentEpics } from './present.ts';

/** A group that is visible to the caller. The parameters determine whether ancestor groups and subgroups are included. */
interface Scope {
  group: Group;
}

type Listing = ListingOf<EpicListInput, Scope>;

/** The groups whose epics are listed, if visible to the caller, and those in which the caller may read all epics. */
async function groupsOf(db: Database, caller: MaybeCaller, group: Group, input: EpicListInput) {
  const below = input.include_descendant_groups
    ? sql`namespaces.traversal_ids @> ${[group.id]}::bigint[]`
    : sql`namespaces.id = ${group.id}`;
  const above = input.include_ancestor_groups ? sql`or namespaces.id = any(${group.traversal_ids}::bigint[])` : sql``;
  const seesAll = caller?.admin ? sql`true` : isMemberOfGroup(caller, levels.planner);
  // Access to the group itself was checked already.
  const { rows } = await sql<{ id: number; sees_all: boolean }>`
    select namespaces.id, ${seesAll} as sees_all from namespaces
     where namespaces.kind = 'group' and (${below} ${above}) and (namespaces.id = ${group.id} or ${isVisibleGroup(caller)})`.execute(
    db,
  );
  return rows;
}

async function viewOf(db: Database, caller: MaybeCaller, { group }: Scope, filters: EpicListInput): Promise<View> {
  const groups = await groupsOf(db, caller, group, filters);
  const open = groups.filter(({ sees_all }) => sees_all).map(({ id }) => id);
  const where =
    open.length === groups.length
      ? sql<SqlBool>`true`
      : sql<SqlBool>`(not epics.confidential or epics.group_id = any(${open}::bigint[]))`;
  return { place_ids: groups.map(({ id }) => id), where };
}

const listable: Listable<EpicListInput, Scope> = { kind: epicKind, viewOf, namesIn, filtersFor: epicFilters };

const columns = {
  created_at: sql`epics.created_at`,
  updated_at: sql`epics.updated_at`,
  title: sql`lower(epics.title)`,
};

/**
 * A page of epics as replies, in a fixed number of statements for any length.
 * @throws ApiError 400 for too many search terms, and as `pageAsked`
 */
export async function listEpics(
  services: Pick<Services, 'db' | 'url'>,
  listing: Listing,
  input: Paging,
): Promise<Page<EpicReply>> {
  const { caller, scope, filters } = listing;
  const selection = await selectionOf(services.db, listable, listing);
  const form = { relative_to: scope.group.id, with_labels_details: filters.with_labels_details };
  const parts = [{ by: [{ column: columns[filters.order_by], sort: filters.sort }] }];
  return pageOfSelection(services.db, selection, parts, input, (ids) => presentEpics(services, caller, ids, form));
}
