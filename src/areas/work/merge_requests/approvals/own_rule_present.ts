/** The rules that a merge request has of its own and by security policies, in replies (docs/reference/security_policies.md#merge-requests). */
import { type Static, Type } from 'typebox';
import type { MaybeCaller } from '../../../../access/index.ts';
import { Id, nullable, resource, type Services } from '../../../../http/index.ts';
import { presentUserBasic } from '../../../people/users/index.ts';
import type { RuleState } from './demand_rules.ts';
import { maximumSuggested, policyMembers, unstoredForm } from './present.ts';
import { usersWith } from './queries.ts';
import { ownedBy } from './rule_actions.ts';
import { MergeRequestApprovalRule, presentMergeRequestRule, ruleRows } from './rule_present.ts';
import { approvalStateOf } from './state_git.ts';

export const ListedApprovalRule = resource('ListedApprovalRule', {
  ...MergeRequestApprovalRule.properties,
  id: nullable(Id),
  rule_type: Type.Enum(['regular', 'any_approver', 'report_approver']),
  ...policyMembers(),
});

/** The rules that a merge request has of its own, and those that policies bring, as replies. */
export async function presentOwnRules(
  services: Pick<Services, 'db' | 'url' | 'storages'>,
  caller: MaybeCaller,
  project_id: number,
  merge_request_id: number,
): Promise<Static<typeof ListedApprovalRule>[]> {
  const { db, url } = services;
  const [rows, { in_effect }] = await Promise.all([
    ruleRows(db, caller).where(ownedBy({ project_id, merge_request_id })).execute(),
    approvalStateOf(services, merge_request_id),
  ]);
  const demanded = in_effect.filter(({ rule_type }) => rule_type === 'report_approver');
  const shownOf = ({ eligible_ids }: RuleState) => eligible_ids.slice(0, maximumSuggested);
  const people = await usersWith(db, [...new Set(demanded.flatMap(shownOf))]);
  return [
    ...rows.map((row) => ({ ...presentMergeRequestRule(services, row), policy: null })),
    ...demanded.map((rule) => {
      const owners = people.filter(({ id }) => shownOf(rule).includes(id)).map((user) => presentUserBasic(url, user));
      const { code_owner: _, ...form } = unstoredForm(rule, owners);
      return { ...form, rule_type: 'report_approver' as const, section: null };
    }),
  ];
}
