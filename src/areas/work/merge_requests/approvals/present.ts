/** How approvals appear in replies (docs/reference/approvals.md). */
import { type Static, Type } from 'typebox';
import { type MaybeCaller, mayApproveMergeRequests, type Project } from '../../../../access/index.ts';
import {
  deprecated,
  Id,
  IdOf,
  nullable,
  reaches,
  resource,
  type Services,
  since,
  Timestamp,
} from '../../../../http/index.ts';
import { presentUserBasic, UserBasic } from '../../../people/users/index.ts';
import { isInvalid, type RuleState } from './demand_rules.ts';
import { approvalsOf, approvedRow, usersWith } from './queries.ts';
import { MergeRequestApprovalRule, presentMergeRequestRule, ruleRows } from './rule_present.ts';
import type { ApprovalState } from './rules.ts';
import { approvalStateOf } from './state_git.ts';

// A mark modifies the schema that it is applied to, so schemas are not shared.
const time = () => Type.String({ format: 'date-time' });
const ShortRule = Type.Object({ id: nullable(Id), name: Type.String(), rule_type: Type.String() });

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
  require_password_to_approve: since('premium', Type.Boolean()),
  suggested_approvers: since(
    'premium',
    Type.Array(UserBasic, { description: 'Whose approvals are missing, at most 100' }),
  ),
  approvers: since('premium', deprecated('always empty', Type.Array(UserBasic))),
  approver_groups: since('premium', deprecated('always empty', Type.Array(Type.Object({})))),
  approval_rules_left: since('premium', Type.Array(ShortRule)),
  has_approval_rules: since('premium', Type.Boolean()),
  merge_request_approvers_available: since('premium', Type.Boolean()),
  multiple_approval_rules_available: since('premium', Type.Boolean()),
  security_policies: since(
    'ultimate',
    Type.Array(
      Type.Object({
        name: Type.String(),
        project: Type.String({ description: 'The path of the policy project' }),
        approvals_left: Type.Integer(),
        reasons: Type.Array(Type.String()),
      }),
      { description: 'The security policies that ask for approvals which are missing' },
    ),
  ),
  invalid_approvers_rules: since('premium', Type.Array(ShortRule, { description: 'Rules that no one can approve' })),
};

export const Approvals = resource('MergeRequestApprovals', {
  user_has_approved: Type.Boolean(),
  user_can_approve: Type.Boolean({ description: 'Whether the caller may approve it and has not done so' }),
  approved: Type.Boolean({ description: 'Whether it has all approvals that it needs; without Premium, any' }),
  approved_by: Type.Array(Type.Object({ user: UserBasic, approved_at: Timestamp })),
  ...licensed,
});
type ApprovalsReply = Static<typeof Approvals>;

/** The members of rules that follow from policies. */
export const policyMembers = () => ({
  report_type: nullable(
    Type.Enum(['any_merge_request', 'scan_finding', 'license_scanning'], {
      description: 'What the rules of a security policy are about',
    }),
  ),
  policy: nullable(
    Type.Object(
      {
        name: Type.String(),
        project: Type.String({ description: 'The path of the policy project' }),
        reasons: Type.Array(Type.String(), { description: 'Why it asks for approvals; empty if it does not' }),
      },
      { description: 'The security policy that the rule follows from; its `id` is null' },
    ),
  ),
});

export const ApprovalStateForm = resource('MergeRequestApprovalState', {
  approval_rules_overwritten: Type.Boolean({
    description: 'Whether rules of the merge request replace those of the project',
  }),
  rules: Type.Array(
    Type.Object({
      ...MergeRequestApprovalRule.properties,
      id: nullable(Id),
      rule_type: Type.Enum(['regular', 'any_approver', 'code_owner', 'report_approver']),
      ...policyMembers(),
      section: nullable(Type.String({ description: 'Of the file that names code owners' })),
      code_owner: Type.Boolean({ description: 'Whether a file of the target branch asks for it; its `id` is null' }),
      approved_by: Type.Array(UserBasic),
      approved: Type.Boolean(),
    }),
  ),
});

/** The most people shown. */
export const maximumSuggested = 100;

const shortRule = ({ id, name, rule_type }: RuleState) => ({ id, name, rule_type });

function numbersOf({ in_effect, plan, require_password_to_approve }: ApprovalState) {
  const left = in_effect.filter(({ approvals_left }) => approvals_left > 0);
  return {
    approvals_required: in_effect.reduce((sum, { approvals_required }) => sum + approvals_required, 0),
    approvals_left: left.reduce((sum, { approvals_left }) => sum + approvals_left, 0),
    require_password_to_approve,
    approval_rules_left: left.map(shortRule),
    has_approval_rules: in_effect.length > 0,
    merge_request_approvers_available: reaches(plan, 'premium'),
    multiple_approval_rules_available: reaches(plan, 'premium'),
    security_policies: left.flatMap(({ policy, approvals_left }) =>
      policy ? [{ name: policy.name, project: policy.project, approvals_left, reasons: policy.reasons }] : [],
    ),
    invalid_approvers_rules: in_effect.filter(isInvalid).map(shortRule),
  };
}

const missingIn = ({ in_effect }: ApprovalState): number[] => [
  ...new Set(
    in_effect.flatMap(({ approvals_left, eligible_ids, approved_ids }) =>
      approvals_left > 0 ? eligible_ids.filter((id) => !approved_ids.includes(id)) : [],
    ),
  ),
];

/**
 * The approvals of a merge request as a reply.
 * @param project the target project, with the caller's level
 */
export async function presentApprovals(
  services: Pick<Services, 'db' | 'url' | 'storages'>,
  caller: MaybeCaller,
  project: Project,
  merge_request_id: number,
): Promise<ApprovalsReply> {
  const { db, url } = services;
  const [row, approvals, state] = await Promise.all([
    approvedRow(db, merge_request_id),
    approvalsOf(db, merge_request_id),
    approvalStateOf(services, merge_request_id),
  ]);
  const hasApproved = approvals.some(({ user }) => user.id === caller?.id);
  const mayApprove = caller !== undefined && mayApproveMergeRequests(project) && !state.barred_ids.includes(caller.id);
  const suggested = await usersWith(db, missingIn(state).slice(0, maximumSuggested));
  const numbers = numbersOf(state);
  return {
    ...row,
    user_has_approved: hasApproved,
    user_can_approve: row.state === 'opened' && mayApprove && !hasApproved,
    approved: reaches(state.plan, 'premium') ? numbers.approvals_left === 0 : approvals.length > 0,
    approved_by: approvals.map(({ user, approved_at }) => ({ user: presentUserBasic(url, user), approved_at })),
    ...numbers,
    suggested_approvers: suggested.map((user) => presentUserBasic(url, user)),
    approvers: [],
    approver_groups: [],
  };
}

/** A rule that comes from a file, without the members that only stored rules have. */
export const unstoredForm = (
  { id, name, rule_type, approvals_required, section, policy }: RuleState,
  owners: Static<typeof UserBasic>[],
) => ({
  id,
  name,
  rule_type,
  approvals_required,
  section,
  code_owner: rule_type === 'code_owner',
  report_type: policy?.report_type ?? null,
  policy: policy ? { name: policy.name, project: policy.project, reasons: policy.reasons } : null,
  source_rule: null,
  eligible_approvers: owners,
  users: owners,
  groups: [],
  contains_hidden_groups: false,
});

/** The state of each rule for a merge request, as a reply. */
export async function presentApprovalState(
  services: Pick<Services, 'db' | 'url' | 'storages'>,
  caller: MaybeCaller,
  merge_request_id: number,
): Promise<Static<typeof ApprovalStateForm>> {
  const { is_overwritten, in_effect } = await approvalStateOf(services, merge_request_id);
  const { db, url } = services;
  const shown = ruleRows(db, caller).where('approval_rules.id', 'in', [0, ...in_effect.flatMap(({ id }) => id ?? [])]);
  const rows = new Map((await shown.execute()).map((row) => [row.id, row]));
  const owners = in_effect
    .filter(({ id }) => id === null)
    .flatMap(({ eligible_ids }) => eligible_ids.slice(0, maximumSuggested));
  const people = await usersWith(db, [
    ...new Set([...owners, ...in_effect.flatMap(({ approved_ids }) => approved_ids)]),
  ]);
  const shownOf = (ids: readonly number[]) =>
    people.filter(({ id }) => ids.includes(id)).map((user) => presentUserBasic(url, user));
  return {
    approval_rules_overwritten: is_overwritten,
    rules: in_effect.flatMap((rule): Static<typeof ApprovalStateForm>['rules'] => {
      const outcome = { approved_by: shownOf(rule.approved_ids), approved: rule.approvals_left === 0 };
      if (rule.id === null)
        return [{ ...unstoredForm(rule, shownOf(rule.eligible_ids.slice(0, maximumSuggested))), ...outcome }];
      const row = rows.get(rule.id);
      if (!row) return [];
      const eligible = row.eligible.filter(({ id }) => rule.eligible_ids.includes(id));
      const form = presentMergeRequestRule(services, { ...row, eligible });
      return [{ ...form, code_owner: false, policy: null, ...outcome }];
    }),
  };
}
