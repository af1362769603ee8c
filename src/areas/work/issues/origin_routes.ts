/** The user agent details of an issue (docs/reference/issues.md). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { issueForAdmin } from '../../../access/index.ts';
import { found, get, one, resource } from '../../../http/index.ts';

const path = '/projects/:id/issues/:issue_iid';

const UserAgentDetail = resource('UserAgentDetail', {
  user_agent: Type.String(),
  ip_address: Type.String(),
  akismet_submitted: Type.Boolean(),
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
];
