/** Who takes part in an issue, who is told of it, where it was written from, and the merge requests that belong to it (issues.md sections 9 and 10). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { isReaderOf, issueForAdmin, issueReader, issueVisible } from '../../../access/index.ts';
import {
  found,
  get,
  notModified,
  one,
  type Page,
  pageOf,
  pageOfArray,
  paginate,
  paging,
  post,
  resource,
} from '../../../http/index.ts';
import { presentUserBasic, UserBasic, userBasicColumns } from '../../people/users/index.ts';
import { Issue, presentSingleIssue } from './present.ts';
import { setSubscription } from './subscriptions.ts';

const path = '/projects/:id/issues/:issue_iid';

const UserAgentDetail = resource('UserAgentDetail', {
  user_agent: Type.String(),
  ip_address: Type.String(),
  akismet_submitted: Type.Boolean(),
});

/** A merge request, of which there are none yet. */
const NoMergeRequest = Type.Object({}, { additionalProperties: true });

const subscribing = (subscribed: boolean, verb: 'subscribe' | 'unsubscribe', summary: string) =>
  post(`${path}/${verb}`, {
    summary,
    access: issueReader,
    returns: one(Issue),
    handle: async ({ db, url, caller, issue }) => {
      if (!(await setSubscription(db, caller.id, issue.id, subscribed))) throw notModified();
      return presentSingleIssue({ db, url }, caller, issue);
    },
  });

const mergeRequests = (name: 'related_merge_requests' | 'closed_by', summary: string) =>
  get(`${path}/${name}`, {
    summary,
    access: issueVisible,
    input: paging,
    returns: pageOf(NoMergeRequest),
    handle: ({ input }): Page<object> => pageOfArray([], input),
  });

export const issuePeopleRoutes = [
  subscribing(true, 'subscribe', 'Be told of what happens to an issue'),
  subscribing(false, 'unsubscribe', 'Not be told any more of what happens to an issue'),
  get(`${path}/participants`, {
    summary: 'List who takes part in an issue: its author, its assignees, and who has commented on it or is named in it',
    access: issueVisible,
    input: paging,
    returns: pageOf(UserBasic),
    handle: async ({ db, url, issue, input }) => {
      const query = db
        .selectFrom('users')
        .select(userBasicColumns)
        .where(
          sql<boolean>`users.id in (
            select author_id from issues where id = ${issue.id}
            union select user_id from issue_assignees where issue_id = ${issue.id}
            union select author_id from notes where issue_id = ${issue.id} and not system and not internal
            union select user_id from user_mentions where issue_id = ${issue.id} and (note_id is null
                    or exists (select from notes where notes.id = note_id and not internal)))`,
        )
        .where(isReaderOf({ issue_id: issue.id }))
        .orderBy('users.id');
      const page = await paginate(db, query, input);
      return { ...page, items: page.items.map((user) => presentUserBasic(url, user)) };
    },
  }),
  get(`${path}/user_agent_detail`, {
    summary: 'Show where an issue was written from',
    access: issueForAdmin,
    returns: one(UserAgentDetail),
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
