/** The issues of a merge request, and the merge requests of an issue (docs/reference/merge_requests.md#closing-issues). */
import { sql } from 'kysely';
import { issueVisible, mayReadMergeRequests, mergeRequestVisible } from '../../../../access/index.ts';
import { get, pageOf } from '../../../../http/index.ts';
import { bounded, type Filter, pageOfArray, paging } from '../../../../lists/index.ts';
import { listIssues } from '../../issues/lists/queries.ts';
import { Issue } from '../../issues/present.ts';
import { listMergeRequests } from '../lists/queries.ts';
import { MergeRequestInList } from '../present.ts';

const issuesOf = (name: 'closes_issues' | 'related_issues', summary: string, only: (id: number) => Filter) =>
  get(`/projects/:id/merge_requests/:merge_request_iid/${name}`, {
    operation: name === 'closes_issues' ? 'listIssuesClosedByMergeRequest' : 'listIssuesRelatedToMergeRequest',
    summary,
    access: mergeRequestVisible,
    input: paging,
    returns: pageOf(Issue),
    handle: ({ caller, merge_request, plan, input, ...services }) =>
      listIssues(
        services,
        { caller, plan, scope: { everywhere: true }, filters: {}, only: only(merge_request.id) },
        input,
      ),
  });

const isClosedBy = (id: number) =>
  bounded(sql`issues.id in (select issue_id from merge_request_closed_issues where merge_request_id = ${id})`);
/** Mention notes exist in both directions: each is on the mentioned item. */
const isRelatedTo = (id: number) =>
  bounded(sql`
  issues.id in (select issue_id from merge_request_closed_issues where merge_request_id = ${id}
                union select refers_to_issue_id from notes where merge_request_id = ${id}
                union select issue_id from notes where refers_to_merge_request_id = ${id})`);

export const mergeRequestIssueRoutes = [
  issuesOf('closes_issues', 'List the issues that merging a merge request closes, newest first', isClosedBy),
  issuesOf(
    'related_issues',
    'List the issues that a merge request closes, mentions or is mentioned in, newest first',
    isRelatedTo,
  ),
];

const closes = (id: number) =>
  bounded(sql`merge_requests.id in (select merge_request_id from merge_request_closed_issues where issue_id = ${id})`);
const concerns = (id: number) =>
  bounded(sql`
  merge_requests.id in (select merge_request_id from merge_request_closed_issues where issue_id = ${id}
                        union select refers_to_merge_request_id from notes where issue_id = ${id}
                        union select merge_request_id from notes where refers_to_issue_id = ${id})`);

const path = '/projects/:id/issues/:issue_iid';
const shared = { access: issueVisible, input: paging, returns: pageOf(MergeRequestInList) };

export const issueMergeRequestRoutes = [
  get(`${path}/related_merge_requests`, {
    operation: 'listMergeRequestsRelatedToIssue',
    summary: 'List the merge requests that close an issue, mention it or are mentioned in it, newest first',
    ...shared,
    handle: ({ caller, issue, plan, input, ...services }) =>
      listMergeRequests(
        services,
        { caller, plan, scope: { everywhere: true }, filters: {}, only: concerns(issue.id) },
        input,
      ),
  }),
  get(`${path}/closed_by`, {
    operation: 'listMergeRequestsClosingIssue',
    summary: 'List the merge requests of its project that close an issue when they are merged, newest first',
    ...shared,
    handle: ({ caller, project, issue, plan, input, ...services }) =>
      mayReadMergeRequests(project)
        ? listMergeRequests(services, { caller, plan, scope: { project }, filters: {}, only: closes(issue.id) }, input)
        : pageOfArray([], input),
  }),
];
