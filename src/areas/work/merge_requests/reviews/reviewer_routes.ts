/** The reviewers of a merge request, each with the state of their review. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { mergeRequestVisible } from '../../../../access/index.ts';
import { get, pageOf, resource, Timestamp } from '../../../../http/index.ts';
import { mapPage, numberedPaging, pageOfArray } from '../../../../lists/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow, userBasicJson } from '../../../people/users/index.ts';

const states = ['unreviewed', 'reviewed', 'requested_changes', 'approved', 'unapproved', 'review_started'] as const;

const Reviewer = resource('MergeRequestReviewer', {
  user: UserBasic,
  state: Type.Enum([...states]),
  created_at: Timestamp,
});

export const reviewerRoutes = [
  get('/projects/:id/merge_requests/:merge_request_iid/reviewers', {
    operation: 'listMergeRequestReviewers',
    summary: 'List the reviewers of a merge request',
    access: mergeRequestVisible,
    input: numberedPaging,
    returns: pageOf(Reviewer),
    handle: async ({ db, url, merge_request, input }) => {
      const rows = await db
        .selectFrom('merge_request_reviewers')
        .innerJoin('users', 'users.id', 'merge_request_reviewers.user_id')
        .select(['merge_request_reviewers.created_at', sql<UserBasicRow>`${userBasicJson('users')}`.as('user')])
        .select((q) => q.ref('merge_request_reviewers.state').$castTo<(typeof states)[number]>().as('state'))
        .where('merge_request_id', '=', merge_request.id)
        .orderBy('user_id')
        .execute();
      return mapPage(pageOfArray(rows, input), ({ user, state, created_at }) => ({
        user: presentUserBasic(url, user),
        state,
        created_at,
      }));
    },
  }),
];
