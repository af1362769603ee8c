/** Lists of epics. */
import { type SqlBool, sql } from 'kysely';
import { epicKind, type Group, isMemberOfGroup, isVisibleGroup, levels, type MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Page, Paging, Services } from '../../../http/index.ts';
import { pageOfSelection, type Selection } from '../issuables/index.ts';
import { filtersFor } from './filters.ts';
import type { EpicListInput } from './list_parameters.ts';
import { type EpicReply, presentEpics } from './present.ts';

/** The groups whose epics are listed, if visible to the caller, and those whose epics the caller sees entirely. */
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

async function selectionOf(db: Database, caller: MaybeCaller, group: Group, input: EpicListInput): Promise<Selection> {
  const groups = await groupsOf(db, caller, group, input);
  const open = groups.filter(({ sees_all }) => sees_all).map(({ id }) => id);
  const where =
    open.length === groups.length
      ? sql<SqlBool>`true`
      : sql<SqlBool>`(not epics.confidential or epics.group_id = any(${open}::bigint[]))`;
  const view = { place_ids: groups.map(({ id }) => id), where };
  return { kind: epicKind, view, filters: await filtersFor(db, caller, input) };
}

const columns = { created_at: sql`epics.created_at`, updated_at: sql`epics.updated_at`, title: sql`lower(epics.title)` };

/**
 * A page of epics as replies, in a fixed number of statements for any length.
 * @param group the group of the list, visible to the caller; `input` says whether ancestors and descendants are included
 * @throws ApiError 400 for too many search terms, and as `pageAsked`
 */
export async function listEpics(
  services: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  group: Group,
  input: EpicListInput & Paging,
): Promise<Page<EpicReply>> {
  const selection = await selectionOf(services.db, caller, group, input);
  const form = { relative_to: group.id, with_labels_details: input.with_labels_details };
  const parts = [{ by: [{ column: columns[input.order_by], sort: input.sort }] }];
  return pageOfSelection(services.db, selection, parts, input, (ids) => presentEpics(services, caller, ids, form));
}
