/** The user agent details of an issue, and its merge requests (docs/reference/issues.md). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { issueForAdmin, issueVisible } from '../../../access/index.ts';
import { found, get, one, type Page, pageOf, pageOfArray, paging, resource } from '../../../http/index.ts';

const path = '/projects/:id/issues/:issue_iid';

const UserAgentDetail = resource('UserAgentDetail', {
  user_agent: Type.String(),
  ip_address: Type.String(),
  akismet_submitted: Type.Boolean(),
});

/** A merge request; there are none yet. */
const NoMergeRequest = Type.Object({}, { additionalProperties: true });

const mergeRequests = (name: 'related_merge_requests' | 'closed_by', summary: string) =>
  get(`${path}/${name}`, {
    operation: name === 'closed_by' ? 'listMergeRequestsClosingIssue' : 'listMergeRequestsRelatedToIssue',
    summary,
    access: issueVisible,
    input: paging,
    returns: pageOf(NoMergeRequest),
    handle: ({ input }): Page<object> => pageOfArray([], input),
  });

export const issueOriginRoutes = [
  get(`${path}/user_agent_detail`, {
    operation: 'getIssueUserAgentDetail',
    summary: 'Get the user agent details of an issue',
    access: issueForAdmin,
    returns: one(UserAgentDetail),
    refusals: { 404: '404 UserAgentDetail Not Found' },
    handle: async ({ db, issue }) =>
      found(
        'UserAgentDetail',
        await db
          .selectFrom('issue_user_agents')
          .select(['user_agent', sql<string>`host(ip_address)`.as('ip_address'), 'akismet_submitted'])
          .where('issue_id', '=', issue.id)
          .executeTakeFirst(),
      ),
  }),
  mergeRequests('related_merge_requests', 'List the merge requests that mention an issue or are mentioned in it'),
  mergeRequests('closed_by', 'List the merge requests that close an issue when they are merged'),
];
