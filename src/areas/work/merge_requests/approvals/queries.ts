/** Queries for approvals of merge requests (docs/reference/approvals.md). */
import { sql } from 'kysely';
import { commitEmailOf, isApprover, isPrimaryProved } from '../../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../../db/index.ts';
import type { Services } from '../../../../http/index.ts';
import { type UserBasicRow, userBasicColumns, userBasicJson } from '../../../people/users/index.ts';
import type { Agreeing } from '../message_rules.ts';

/** The most approvals shown. */
const maximumShown = 1_000;

/** The most people considered for one rule. */
export const maximumEligible = 1_000;

/** A predicate on rows of `users` joined with `projects`: the user's approval counts there. */
export const countsFrom = (barred_ids: readonly number[]) =>
  sql<boolean>`(${isApprover} and users.id <> all(${ofAnyLength(barred_ids, 'bigint[]')}))`;

/** A predicate on rows of `users`: the user has approved the merge request. */
export const hasApprovedIt = (merge_request_id: number) =>
  sql<boolean>`exists (select from merge_request_approvals where merge_request_id = ${merge_request_id} and user_id = users.id)`;

/** The columns for replies with approvals. */
export const approvedRow = (db: Database, id: number) =>
  db
    .selectFrom('merge_requests')
    .select(['id', 'iid', 'project_id', 'title', 'description', 'state', 'merge_status', 'created_at', 'updated_at'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

/** The approvals of a merge request, oldest first. */
export const approvalsOf = (db: Database, merge_request_id: number) =>
  db
    .selectFrom('merge_request_approvals')
    .innerJoin('users', 'users.id', 'merge_request_approvals.user_id')
    .select([
      'merge_request_approvals.created_at as approved_at',
      sql<UserBasicRow>`${userBasicJson('users')}`.as('user'),
    ])
    .where('merge_request_id', '=', merge_request_id)
    .orderBy('merge_request_approvals.created_at')
    .orderBy('user_id')
    .limit(maximumShown)
    .execute();

/** The most people named in messages. */
const maximumNamed = 100;

/** The users who approved or reviewed a merge request, for commit messages. */
export async function agreeingWith(
  { db, url }: Pick<Services, 'db' | 'url'>,
  merge_request_id: number,
): Promise<Agreeing[]> {
  const rows = await db
    .selectFrom('users')
    .select(['users.id', 'username', 'name', 'email', 'commit_email', isPrimaryProved.as('has_proved_email')])
    .select([
      hasApprovedIt(merge_request_id).as('has_approved'),
      sql<boolean>`exists (select from merge_request_reviewers where merge_request_id = ${merge_request_id} and user_id = users.id
                                                                 and state in ('reviewed', 'requested_changes', 'approved'))`.as(
        'has_reviewed',
      ),
    ])
    .where(
      sql<boolean>`users.id in (select user_id from merge_request_approvals where merge_request_id = ${merge_request_id}
                                union select user_id from merge_request_reviewers where merge_request_id = ${merge_request_id})`,
    )
    .orderBy('users.id')
    .limit(maximumNamed)
    .execute();
  return rows.map((row) => ({ ...row, commit_email: commitEmailOf(row, url) }));
}

/** Users ordered by id. */
export async function usersWith(db: Database, ids: readonly number[]): Promise<UserBasicRow[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('users')
    .select(userBasicColumns)
    .where(sql<boolean>`users.id = any(${ofAnyLength(ids, 'bigint[]')})`)
    .orderBy('users.id')
    .execute();
}
