/** Who has approved a merge request (docs/reference/approvals.md). */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { type UserBasicRow, userBasicColumns, userBasicJson } from '../../people/users/index.ts';

/** More approvals than this are not shown. */
const most_shown = 1_000;

/** What approvals are shown with. */
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
    .select(['merge_request_approvals.created_at as approved_at', sql<UserBasicRow>`${userBasicJson('users')}`.as('user')])
    .where('merge_request_id', '=', merge_request_id)
    .orderBy('merge_request_approvals.created_at')
    .orderBy('user_id')
    .limit(most_shown)
    .execute();

/** Users in the order of their ids. */
export const usersWith = (db: Database, ids: readonly number[]): Promise<UserBasicRow[]> =>
  db
    .selectFrom('users')
    .select(userBasicColumns)
    .where(sql<boolean>`users.id = any(${ofAnyLength(ids, 'bigint[]')})`)
    .orderBy('users.id')
    .execute();
