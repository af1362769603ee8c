/** Lists and counts of issues. */
import { sql } from 'kysely';
import { issueKind } from '../../../../access/index.ts';
import { type Database, isAmong } from '../../../../db/index.ts';
import type { Page, Services } from '../../../../http/index.ts';
import { isRead, narrow, type Paging, pageOfSelection } from '../../../../lists/index.ts';
import { countByState } from '../../issuables/list_queries.ts';
import { type Listable, type Listing as ListingOf, selectionOf } from '../../issuables/selection_queries.ts';
import { type IssueReply, presentIssues } from '../present.ts';
import { issueFilters, namesIn } from './filters.ts';
import { partsOf } from './order_rules.ts';
import type { IssueFilters } from './parameters.ts';
import { viewOf } from './view_queries.ts';

export type Listing = ListingOf<IssueFilters>;

const listable: Listable<IssueFilters> = { kind: issueKind, viewOf, namesIn, filtersFor: issueFilters };

/**
 * A page of issues as replies, in a fixed number of statements for any length.
 * @param listing the scope and filters; `filters` may contain any list parameter, including `order_by`, `sort` and `with_labels_details`
 * @throws ApiError 400 for invalid filters, and as `pageAsked`
 */
export async function listIssues(
  services: Pick<Services, 'db' | 'url'>,
  listing: Listing,
  input: Paging,
): Promise<Page<IssueReply>> {
  const { order_by = 'created_at', sort = 'desc', with_labels_details } = listing.filters;
  const selection = await selectionOf(services.db, listable, listing);
  const relative_to = 'project' in listing.scope ? listing.scope.project.id : undefined;
  return pageOfSelection(services.db, selection, partsOf(order_by, sort), input, (ids) =>
    presentIssues(services, listing.caller, ids, { relative_to, with_labels_details }),
  );
}

/**
 * The number of issues in each state.
 * @param listing as for `listIssues`
 * @throws ApiError 400 for invalid filters
 */
export const countIssues = async (
  db: Database,
  listing: Listing,
): Promise<{ all: number; closed: number; opened: number }> =>
  countByState(db, await selectionOf(db, listable, listing));

/** The issues that are in a list. */
export interface Listed {
  issues: readonly { id: number; iid: number; project_id: number }[];
  /** The projects of the list, unless there are too many to enumerate. */
  project_ids: readonly number[];
}

/**
 * The given issues that are in a list.
 * @param listing as for `listIssues`
 * @throws ApiError 400 for invalid filters
 */
export async function issuesAmong(db: Database, listing: Listing, ids: readonly number[]): Promise<Listed> {
  const { filters, ...selection } = await selectionOf(db, listable, listing);
  const among = narrow(isAmong('issues.id', ids, 'bigint[]'));
  const { rows } = await sql<Listed['issues'][number]>`
    select id, iid, project_id from issues where ${isRead({ ...selection, filters: [among, ...filters] })}`.execute(db);
  return { issues: rows, project_ids: selection.view.place_ids ?? [] };
}
