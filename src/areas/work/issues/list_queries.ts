/** Lists and counts of issues. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { issueKind, type MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Page, type Paging, type Plan, reaches, type Services } from '../../../http/index.ts';
import { countByState, type ListScope, namesFor, pageOfSelection, type Selection } from '../issuables/index.ts';
import { issueFilters, namesIn } from './filters.ts';
import type { IssueFilters } from './list_parameters.ts';
import { partsOf } from './order_rules.ts';
import { type IssueReply, presentIssues } from './present.ts';
import { viewOf } from './view_queries.ts';

export interface Listing {
  caller: MaybeCaller;
  scope: ListScope;
  /** The plan in force. */
  plan: Plan;
  filters: IssueFilters;
  /** A predicate on rows of `issues` besides the filters, e.g. for one milestone. */
  only?: RawBuilder<SqlBool>;
}

async function selectionOf(db: Database, { caller, scope, plan, filters, only }: Listing): Promise<Selection> {
  const project_id = 'project' in scope ? scope.project.id : undefined;
  const near = project_id === undefined ? sql<SqlBool>`true` : sql<SqlBool>`(project_id = ${project_id} or group_id is not null)`;
  const names = await namesFor(db, namesIn(filters), { near, wildcards: reaches(plan, 'premium') });
  const view = await viewOf(db, caller, scope, filters.non_archived ?? false);
  const narrowed = issueFilters(filters, { caller, names, plan, now: new Date(), project_id });
  return { kind: issueKind, view, filters: only ? [{ where: only, isNarrow: true }, ...narrowed] : narrowed };
}

/**
 * A page of issues as replies, in a fixed number of statements for any length.
 * @param listing the scope and filters; `filters` may hold any list parameter, including `order_by`, `sort` and `with_labels_details`
 * @throws ApiError 400 for invalid filters, and as `pageAsked`
 */
export async function listIssues(
  services: Pick<Services, 'db' | 'url'>,
  listing: Listing,
  input: Paging,
): Promise<Page<IssueReply>> {
  const { order_by = 'created_at', sort = 'desc', with_labels_details } = listing.filters;
  const selection = await selectionOf(services.db, listing);
  const relative_to = 'project' in listing.scope ? listing.scope.project.id : undefined;
  return pageOfSelection(services.db, selection, partsOf(order_by, sort), input, (ids) =>
    presentIssues(services, listing.caller, ids, { relative_to, with_labels_details }),
  );
}

/**
 * How many issues there are in each state.
 * @param listing as for `listIssues`
 * @throws ApiError 400 for invalid filters
 */
export const countIssues = async (db: Database, listing: Listing): Promise<{ all: number; closed: number; opened: number }> =>
  countByState(db, await selectionOf(db, listing));
