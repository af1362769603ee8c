/** Lists and counts of merge requests. */
import { sql } from 'kysely';
import { type MaybeCaller, mergeRequestKind } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import type { Page, Services } from '../../../../http/index.ts';
import { mapPage, type Paging, pageOfSelection, type View } from '../../../../lists/index.ts';
import { countByState } from '../../issuables/list_queries.ts';
import { isInScope, type ListScope, maximumNamed, visibleProjects } from '../../issuables/scope_queries.ts';
import { type Listable, type Listing as ListingOf, selectionOf } from '../../issuables/selection_queries.ts';
import { type MergeRequestInList, presentMergeRequests, simpleForm } from '../present.ts';
import { mergeRequestFilters, namesIn } from './filters.ts';
import { partsOf } from './order_rules.ts';
import type { MergeRequestFilters } from './parameters.ts';

export type Listing = ListingOf<MergeRequestFilters>;

/** What the caller may read in a scope. A user who may read merge requests of a project may read all of them. */
async function viewOf(
  db: Database,
  caller: MaybeCaller,
  scope: ListScope,
  { non_archived = false }: MergeRequestFilters,
): Promise<View> {
  if ('project' in scope) return { place_ids: [scope.project.id], where: sql`true` };
  const [inside, readable] = [isInScope(scope, non_archived), mergeRequestKind.isVisible(caller)];
  const visible = visibleProjects(caller, inside, readable, sql`true`);
  const { rows } = await sql<{ id: number }>`${visible} limit ${sql.lit(maximumNamed + 1)}`.execute(db);
  if (rows.length <= maximumNamed) return { place_ids: rows.map(({ id }) => id), where: sql`true` };
  return {
    places: { ids: sql`select id from (${visible}) visible`, where: sql`true` },
    where: sql`exists (select from projects where projects.id = merge_requests.project_id and ${inside} and ${readable})`,
  };
}

const listable: Listable<MergeRequestFilters> = {
  kind: mergeRequestKind,
  viewOf,
  namesIn,
  filtersFor: mergeRequestFilters,
};

/**
 * A page of merge requests as replies, in a fixed number of statements for any length.
 * @param listing the scope and filters; `filters` may contain any list parameter, including `order_by`, `sort`, `view` and `with_labels_details`
 * @throws ApiError 400 for invalid filters, and as `pageAsked`
 */
export async function listMergeRequests(
  services: Pick<Services, 'db' | 'url'>,
  listing: Listing,
  input: Paging,
): Promise<Page<MergeRequestInList>> {
  const { order_by = 'created_at', sort = 'desc', with_labels_details, view } = listing.filters;
  const selection = await selectionOf(services.db, listable, listing);
  const relative_to = 'project' in listing.scope ? listing.scope.project.id : undefined;
  const page = await pageOfSelection(services.db, selection, partsOf(order_by, sort), input, (ids) =>
    presentMergeRequests(services, listing.caller, ids, { relative_to, with_labels_details }),
  );
  return view === 'simple' ? mapPage(page, simpleForm) : page;
}

/**
 * The number of open merge requests in a list.
 * @throws ApiError 400 for invalid filters
 */
export const countOpenMergeRequests = async (db: Database, listing: Listing): Promise<number> =>
  (await countByState(db, await selectionOf(db, listable, listing))).opened;
