/** Determines which approval rules apply to a merge request, which approvals are missing, and the wording of system notes (docs/reference/approvals.md). Pure functions. */

import { isAbout } from '../../../../foundation/wildcards.ts';
import type { Plan } from '../../../../http/index.ts';
import type { PolicySetting } from '../../../../security_policies/index.ts';
import type { State } from '../rules.ts';
import type { Demand, RuleState } from './demand_rules.ts';
import { isDemanded, type PolicyAbout } from './policy_rules.ts';

export interface BasisRule extends Demand {
  id: number;
  /** Whether it belongs to the merge request instead of the project. */
  is_own: boolean;
  applies_to_all_protected_branches: boolean;
  /** The names of the protected branches that it applies to. */
  branches: string[];
}

/** The data that determines the required approvals of a merge request. */
export interface ApprovalBasis {
  plan: Plan;
  state: State;
  author_id: number | null;
  /** Project and group bots created by the author. */
  author_bot_ids: number[];
  target_branch: string;
  project_id: number;
  storage: string;
  head_commit_id: string | null;
  start_commit_sha: string | null;
  base_commit_sha: string | null;
  /** Whether the latest version changes more files than are compared. */
  is_large: boolean;
  reset_approvals_on_push: boolean;
  disable_overriding_approvers_per_merge_request: boolean;
  merge_requests_author_approval: boolean;
  merge_requests_disable_committers_approval: boolean;
  require_password_to_approve: boolean;
  /** The names of all protected branches of the project. */
  protections: string[];
  /** The names of the protected branches that require approvals of code owners. */
  owner_protections: string[];
  rules: BasisRule[];
  /** The security policies about the target branch. */
  policies: PolicyAbout[];
}

/** The same, with the users whose approvals do not count: the author and the committers, by the settings of the project. */
export interface ApprovalTerms extends ApprovalBasis {
  barred_ids: number[];
}

export interface ApprovalState extends ApprovalTerms {
  /** Whether rules of the merge request replace those of the project. */
  is_overwritten: boolean;
  in_effect: RuleState[];
}

const isPaid = ({ plan }: ApprovalBasis): boolean => plan !== 'free';

/** Whether rules of the merge request replace those of its project. */
export const isOverwritten = (basis: ApprovalBasis): boolean =>
  isPaid(basis) && !basis.disable_overriding_approvers_per_merge_request && basis.rules.some((rule) => rule.is_own);

/** Whether a merge request needs approvals of code owners: it is open, and its target branch requires them. */
export const asksOwners = (basis: ApprovalBasis): boolean =>
  isPaid(basis) &&
  basis.state === 'opened' &&
  basis.owner_protections.some((name) => isAbout(name, basis.target_branch));

/**
 * Whether a rule of a project is for a branch.
 * @param protections the names of the protections of the project
 */
export function isForBranch(
  { applies_to_all_protected_branches, branches }: Pick<BasisRule, 'applies_to_all_protected_branches' | 'branches'>,
  protections: readonly string[],
  branch: string,
): boolean {
  const isOn = (names: readonly string[]) => names.some((name) => isAbout(name, branch));
  if (applies_to_all_protected_branches) return isOn(protections);
  return branches.length === 0 || isOn(branches);
}

/** The rules of the project and the merge request that apply. */
export function rulesInEffect(basis: ApprovalBasis): BasisRule[] {
  if (!isPaid(basis)) return [];
  const { rules, protections, target_branch } = basis;
  if (isOverwritten(basis)) return rules.filter((rule) => rule.is_own);
  return rules.filter((rule) => !rule.is_own && isForBranch(rule, protections, target_branch));
}

/** The basis with the settings of policies, which win where they are stricter. */
export function withPolicySettings(basis: ApprovalBasis): ApprovalBasis {
  const demands = (setting: PolicySetting) => isDemanded(basis.policies, setting);
  return {
    ...basis,
    reset_approvals_on_push: basis.reset_approvals_on_push || demands('remove_approvals_with_new_commit'),
    merge_requests_author_approval: basis.merge_requests_author_approval && !demands('prevent_approval_by_author'),
    merge_requests_disable_committers_approval:
      basis.merge_requests_disable_committers_approval || demands('prevent_approval_by_commit_author'),
  };
}

/**
 * The reason why approvals block a merge.
 * @param source_head the current head of the source branch; if it differs from the latest version, approvals are about to be reset
 */
export function approvalBlocker(
  state: ApprovalState,
  source_head: string | undefined,
): 'not_approved' | 'security_policy_violations' | 'approvals_syncing' | undefined {
  const { in_effect, head_commit_id, policies } = state;
  const missing = in_effect.filter(({ approvals_left }) => approvals_left > 0);
  if (missing.some(({ policy }) => policy === undefined)) return 'not_approved';
  if (missing.length > 0) return 'security_policy_violations';
  // Files changed by a push may have owners, and policies are judged by the version.
  const asks =
    asksOwners(state) || policies.length > 0 || in_effect.some(({ approvals_required }) => approvals_required > 0);
  return asks && source_head !== head_commit_id ? 'approvals_syncing' : undefined;
}

/** The most names listed. */
const maximumNamed = 20;

/**
 * The system note about removed approvals.
 * @param usernames the former approvers
 * @param reason the end of the note, e.g. `by pushing to the branch`
 */
export function wordsForReset(usernames: readonly string[], reason?: string): string {
  const others = usernames.length - maximumNamed;
  const named = usernames.slice(0, maximumNamed).map((username) => `@${username}`);
  const all = others > 0 ? [...named, `${others} more`] : named;
  const names = new Intl.ListFormat('en').format(all);
  return `reset approvals from ${names}${reason === undefined ? '' : ` ${reason}`}`;
}
