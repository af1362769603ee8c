/** How approvals appear in replies (docs/reference/approvals.md). */
import { type Static, Type } from 'typebox';
import { type MaybeCaller, mayApproveMergeRequests, type Project } from '../../../access/index.ts';
import {
  deprecated,
  IdOf,
  nullable,
  type Plan,
  reaches,
  resource,
  type Services,
  since,
  Timestamp,
} from '../../../http/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import { approvalsOf, approvedRow } from './approval_queries.ts';

// A mark changes the schema that it is put on, so none of these is shared.
const time = () => Type.String({ format: 'date-time' });
const licensed = {
  id: since('premium', IdOf()),
  iid: since('premium', Type.Integer()),
  project_id: since('premium', IdOf()),
  title: since('premium', Type.String()),
  description: since('premium', nullable(Type.String())),
  state: since('premium', Type.String()),
  created_at: since('premium', time()),
  updated_at: since('premium', time()),
  merge_status: since('premium', deprecated('use `detailed_merge_status` of the merge request', Type.String())),
  approvals_required: since('premium', Type.Integer()),
  approvals_left: since('premium', Type.Integer()),
};

export const Approvals = resource('MergeRequestApprovals', {
  user_has_approved: Type.Boolean(),
  user_can_approve: Type.Boolean({ description: 'Whether the caller may approve it and has not done so' }),
  approved: Type.Boolean({ description: 'Whether it has all approvals that it needs; without Premium, any' }),
  approved_by: Type.Array(Type.Object({ user: UserBasic, approved_at: Timestamp })),
  ...licensed,
});
type ApprovalsReply = Static<typeof Approvals>;

/**
 * The approvals of a merge request as a reply.
 * @param project the target, with the caller's level
 */
export async function presentApprovals(
  { db, url, plan }: Pick<Services, 'db' | 'url'> & { plan: Plan },
  caller: MaybeCaller,
  project: Project,
  merge_request_id: number,
): Promise<ApprovalsReply> {
  const row = await approvedRow(db, merge_request_id);
  const approvals = await approvalsOf(db, merge_request_id);
  const hasApproved = approvals.some(({ user }) => user.id === caller?.id);
  const isOpen = row.state === 'opened';
  return {
    ...row,
    user_has_approved: hasApproved,
    user_can_approve: isOpen && caller !== undefined && !hasApproved && mayApproveMergeRequests(project),
    approved: reaches(plan, 'premium') || approvals.length > 0,
    approved_by: approvals.map(({ user, approved_at }) => ({ user: presentUserBasic(url, user), approved_at })),
    approvals_required: 0,
    approvals_left: 0,
  };
}
