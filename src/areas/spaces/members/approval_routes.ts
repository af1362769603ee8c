/** Promotions that need an approval. These endpoints are ours, not part of API v4. */
import { type Static, Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  DateOnly,
  found,
  get,
  Id,
  nullable,
  one,
  optional,
  pageOf,
  put,
  type Refusals,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import { approve, deny } from './approval_decision_actions.ts';
import { usersById } from './queries.ts';
import { lastOwnerText } from './rules.ts';

const Status = Type.Enum(['pending', 'approved', 'denied']);

const MemberApproval = resource('MemberApproval', {
  id: Id,
  user: UserBasic,
  group_id: nullable(Id),
  project_id: nullable(Id),
  access_level: Type.Integer(),
  member_role_id: nullable(Id),
  expires_at: nullable(DateOnly),
  status: Status,
  requested_by: nullable(UserBasic),
  reviewed_by: nullable(UserBasic),
  created_at: Timestamp,
  updated_at: Timestamp,
});

const approvals = (db: Database) =>
  db
    .selectFrom('member_approvals')
    .select(['id', 'user_id', 'group_id', 'project_id', 'access_level', 'member_role_id', 'expires_at', 'status'])
    .select(['requested_by_id', 'reviewed_by_id', 'created_at', 'updated_at']);
type ApprovalRow = Awaited<ReturnType<ReturnType<typeof approvals>['executeTakeFirstOrThrow']>>;

async function present(
  db: Database,
  url: string,
  rows: readonly ApprovalRow[],
): Promise<Static<typeof MemberApproval>[]> {
  const ids = rows.flatMap(({ user_id, requested_by_id, reviewed_by_id }) => [
    user_id,
    requested_by_id,
    reviewed_by_id,
  ]);
  const users = await usersById(
    db,
    ids.filter((id) => id !== null),
  );
  const basic = (id: number | null) => (id === null ? null : presentUserBasic(url, users.get(id)!));
  return rows.map(({ user_id, requested_by_id, reviewed_by_id, status, ...row }) => ({
    ...row,
    status: status as Static<typeof Status>,
    user: basic(user_id)!,
    requested_by: basic(requested_by_id),
    reviewed_by: basic(reviewed_by_id),
  }));
}

const decision = (
  name: string,
  summary: string,
  decide: (tx: Database, id: number, admin_id: number) => Promise<void>,
  refusals: Refusals = {},
) =>
  put(`/member_approvals/:id/${name}`, {
    operation: `${name}MemberApproval`,
    summary,
    access: admin,
    plan: 'ultimate',
    input: { id: Id },
    returns: one(MemberApproval),
    refusals: { 409: '409 Conflict', ...refusals },
    handle: async ({ db, url, caller, input: { id } }) => {
      await db.transaction().execute((tx) => decide(tx, id, caller.id));
      const row = found(undefined, await approvals(db).where('id', '=', id).executeTakeFirst());
      const [approval] = await present(db, url, [row]);
      return approval!;
    },
  });

export const memberApprovalRoutes = [
  get('/member_approvals', {
    operation: 'listMemberApprovals',
    summary: 'List requests to promote members, oldest first',
    access: admin,
    plan: 'ultimate',
    input: { status: optional(Status), ...paging },
    returns: pageOf(MemberApproval),
    handle: async ({ db, url, input }) => {
      const { status } = input;
      const all = approvals(db).orderBy('id');
      const page = await paginate(db, status === undefined ? all : all.where('status', '=', status), input);
      return { ...page, items: await present(db, url, page.items) };
    },
  }),
  decision('approve', 'Approve a request to promote a member', approve, {
    422: [
      'Expires at <reason>',
      'Access level <reason>',
      'There are not enough available seats to invite this many users.',
      'not authorized to update member',
      lastOwnerText,
    ],
  }),
  decision('deny', 'Deny a request to promote a member', deny),
];
