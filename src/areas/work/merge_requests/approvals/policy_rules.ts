/** What the security policies of a project ask of a merge request (docs/reference/security_policies.md#merge-requests). Pure functions. */
import { isAbout } from '../../../../foundation/wildcards.ts';
import type { ApprovalDemand, FactName, KnownFacts, PolicySetting, Rule } from '../../../../security_policies/index.ts';
import { factsFor, judge } from '../../../../security_policies/index.ts';
import { type PolicyInForce, policiesFor, type Reached, rulesAbout } from '../../../code/security_policies/index.ts';
import type { Demand } from './demand_rules.ts';

/** A policy with the rules that are about the target branch, of which there are some. */
export interface PolicyAbout extends PolicyInForce {
  rules: readonly Rule[];
}

/**
 * The policies that are about a target branch.
 * @param reached null if the project is linked to no policies
 * @param protections the names of its protected branches
 */
export function policiesAbout(
  reached: Reached | null,
  target_branch: string,
  protections: readonly string[],
): PolicyAbout[] {
  if (reached === null) return [];
  const branch = { name: target_branch, is_protected: protections.some((name) => isAbout(name, target_branch)) };
  return policiesFor(reached)
    .map((each) => ({ ...each, rules: rulesAbout(each.policy, branch, reached) }))
    .filter(({ rules }) => rules.length > 0);
}

/** Whether one of the policies decides on a setting. */
export const isDemanded = (policies: readonly PolicyAbout[], setting: PolicySetting): boolean =>
  policies.some(({ policy }) => policy.settings.includes(setting));

/** The facts without which the policies cannot be judged. */
export const neededFacts = (policies: readonly PolicyAbout[]): FactName[] => [
  ...new Set(policies.flatMap(({ rules }) => factsFor(rules))),
];

/** A demand of a policy, and whose approvals count for it. */
export interface PolicyDemand {
  demand: Demand;
  approvers: ApprovalDemand;
}

/** The demands of policies: those that do not ask require no approvals. */
export const demandsOf = (policies: readonly PolicyAbout[], facts: KnownFacts): PolicyDemand[] =>
  policies.flatMap(({ policy, source, rules }) => {
    const { asks, is_known, reasons, report_type } = judge(policy, rules, facts);
    const origin = {
      name: policy.name,
      project: source.full_path,
      report_type,
      reasons,
      fails_closed: policy.fails_closed,
      is_known,
      tells: policy.tells,
    };
    return policy.demands.map(
      (approvers, index): PolicyDemand => ({
        approvers,
        demand: {
          id: null,
          name: index === 0 ? policy.name : `${policy.name} ${index + 1}`,
          rule_type: 'report_approver',
          approvals_required: asks ? approvers.approvals_required : 0,
          section: null,
          policy: origin,
        },
      }),
    );
  });
