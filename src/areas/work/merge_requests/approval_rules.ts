/** Which rules of approvals apply to a merge request, what they still need, and the wording of system notes (docs/reference/approvals.md). Pure functions. */
import type { Plan } from '../../../http/index.ts';
import { isAbout } from '../../code/protected_branches/index.ts';

export interface BasisRule {
  id: number;
  name: string;
  rule_type: 'regular' | 'any_approver';
  approvals_required: number;
  /** Whether it belongs to the merge request and not to the project. */
  is_own: boolean;
  applies_to_all_protected_branches: boolean;
  /** The names of the protected branches that it is for. */
  branches: string[];
}

/** What decides on the approvals that a merge request needs. */
export interface ApprovalBasis {
  plan: Plan;
  author_id: number | null;
  target_branch: string;
  project_id: number;
  storage: string;
  head_commit_id: string | null;
  start_commit_sha: string | null;
  reset_approvals_on_push: boolean;
  disable_overriding_approvers_per_merge_request: boolean;
  merge_requests_author_approval: boolean;
  merge_requests_disable_committers_approval: boolean;
  require_password_to_approve: boolean;
  /** The names of all protected branches of the project. */
  protections: string[];
  rules: BasisRule[];
}

export interface RuleState extends BasisRule {
  /** Those whose approvals it counts; of `any_approver` none are listed. */
  eligible_ids: number[];
  approved_ids: number[];
  approvals_left: number;
}

export interface ApprovalState extends ApprovalBasis {
  /** Whether rules of the merge request replace those of the project. */
  is_overwritten: boolean;
  /** The users whose approvals do not count: the author and the committers, as the project says. */
  barred_ids: number[];
  in_effect: RuleState[];
}

const isPaid = ({ plan }: ApprovalBasis): boolean => plan !== 'free';

/** Whether rules of the merge request replace those of its project. */
export const isOverwritten = (basis: ApprovalBasis): boolean =>
  isPaid(basis) && !basis.disable_overriding_approvers_per_merge_request && basis.rules.some((rule) => rule.is_own);

/** The rules that apply to a merge request. */
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
 * What a rule still needs. One that names fewer than it requires is content with all of them.
 * @param eligible_ids those whose approvals a regular rule counts
 * @param approver_ids those who have approved, of whom all could count
 */
export function stateOfRule(rule: BasisRule, eligible_ids: readonly number[], approver_ids: readonly number[]): RuleState {
  const isAny = rule.rule_type === 'any_approver';
  const approved_ids = isAny ? [...approver_ids] : eligible_ids.filter((id) => approver_ids.includes(id));
  const missing = Math.max(0, rule.approvals_required - approved_ids.length);
  const approvals_left = isAny ? missing : Math.min(missing, eligible_ids.length - approved_ids.length);
  return { ...rule, eligible_ids: isAny ? [] : [...eligible_ids], approved_ids, approvals_left };
}

/** Whether a rule asks for approvals that nobody can give, so that it asks for none. */
export const isInvalid = ({ rule_type, approvals_required, eligible_ids }: RuleState): boolean =>
  rule_type === 'regular' && approvals_required > 0 && eligible_ids.length === 0;

/**
 * Why approvals do not allow a merge.
 * @param source_head where the source branch is; approvals of another head than the last version has are still to be reset
 */
export function approvalBlocker(
  { in_effect, head_commit_id }: ApprovalState,
  source_head: string | undefined,
): 'not_approved' | 'approvals_syncing' | undefined {
  if (in_effect.some(({ approvals_left }) => approvals_left > 0)) return 'not_approved';
  const asks = in_effect.some(({ approvals_required }) => approvals_required > 0);
  return asks && source_head !== head_commit_id ? 'approvals_syncing' : undefined;
}

/** More names than this are not listed. */
const most_named = 20;

/**
 * The system note of approvals that were removed.
 * @param usernames of those who had given them
 * @param reason its end, e.g. `by pushing to the branch`
 */
export function wordsForReset(usernames: readonly string[], reason?: string): string {
  const others = usernames.length - most_named;
  const named = usernames.slice(0, most_named).map((username) => `@${username}`);
  const all = others > 0 ? [...named, `${others} more`] : named;
  const names = new Intl.ListFormat('en').format(all);
  return `reset approvals from ${names}${reason === undefined ? '' : ` ${reason}`}`;
}
