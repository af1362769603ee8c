/** Determines which approval rules apply to a merge request, which approvals are missing, and the wording of system notes (docs/reference/approvals.md). Pure functions. */

import { isAbout } from '../../../../foundation/wildcards.ts';
import type { Plan } from '../../../../http/index.ts';
import type { State } from '../rules.ts';

/** The requirement of a rule. */
export interface Demand {
  /** Null for a code owner rule, which comes from a file. */
  id: number | null;
  name: string;
  rule_type: 'regular' | 'any_approver' | 'code_owner';
  approvals_required: number;
  /** The section in the CODEOWNERS file. */
  section: string | null;
}

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
}

export interface RuleState extends Demand {
  /** The users whose approvals count; empty for `any_approver`. */
  eligible_ids: number[];
  approved_ids: number[];
  approvals_left: number;
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

/** The rules of the project and the merge request that apply. */
export function rulesInEffect(basis: ApprovalBasis): BasisRule[] {
  if (!isPaid(basis)) return [];
  const { rules, protections, target_branch } = basis;
  if (isOverwritten(basis)) return rules.filter((rule) => rule.is_own);
  const isOn = (names: readonly string[]) => names.some((name) => isAbout(name, target_branch));
  return rules.filter((rule) => {
    if (rule.is_own) return false;
    if (rule.applies_to_all_protected_branches) return isOn(protections);
    return rule.branches.length === 0 || isOn(rule.branches);
  });
}

/**
 * The state of a rule. A rule that names fewer users than it requires is satisfied when all of them have approved.
 * @param eligible_ids the users whose approvals count for a rule that names people
 * @param approver_ids the users who have approved and whose approvals count
 */
export function stateOfRule(rule: Demand, eligible_ids: readonly number[], approver_ids: readonly number[]): RuleState {
  const isAny = rule.rule_type === 'any_approver';
  const approved_ids = isAny ? [...approver_ids] : eligible_ids.filter((id) => approver_ids.includes(id));
  const missing = Math.max(0, rule.approvals_required - approved_ids.length);
  const approvals_left = isAny ? missing : Math.min(missing, eligible_ids.length - approved_ids.length);
  return { ...rule, eligible_ids: isAny ? [] : [...eligible_ids], approved_ids, approvals_left };
}

/** Whether a rule has no eligible approver, so that it requires no approvals. */
export const isInvalid = ({ rule_type, approvals_required, eligible_ids }: RuleState): boolean =>
  rule_type !== 'any_approver' && approvals_required > 0 && eligible_ids.length === 0;

/**
 * The reason why approvals block a merge.
 * @param source_head the current head of the source branch; if it differs from the latest version, approvals are about to be reset
 */
export function approvalBlocker(
  state: ApprovalState,
  source_head: string | undefined,
): 'not_approved' | 'approvals_syncing' | undefined {
  const { in_effect, head_commit_id } = state;
  if (in_effect.some(({ approvals_left }) => approvals_left > 0)) return 'not_approved';
  // Files changed by a push may have owners.
  const asks = asksOwners(state) || in_effect.some(({ approvals_required }) => approvals_required > 0);
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
