/** Which rules of approvals apply to a merge request, what they still need, and the wording of system notes (docs/reference/approvals.md). Pure functions. */
import type { Plan } from '../../../../http/index.ts';
import { isAbout } from '../../../code/protected_branches/index.ts';
import type { State } from '../rules.ts';

/** What a rule asks for. */
export interface Demand {
  /** Null for the rule of a code owner, which is read from a file. */
  id: number | null;
  name: string;
  rule_type: 'regular' | 'any_approver' | 'code_owner';
  approvals_required: number;
  /** Of the file that names code owners. */
  section: string | null;
}

export interface BasisRule extends Demand {
  id: number;
  /** Whether it belongs to the merge request and not to the project. */
  is_own: boolean;
  applies_to_all_protected_branches: boolean;
  /** The names of the protected branches that it is for. */
  branches: string[];
}

/** What decides on the approvals that a merge request needs. */
export interface ApprovalBasis {
  plan: Plan;
  state: State;
  author_id: number | null;
  /** Bots of projects and groups that the author has made. */
  author_bot_ids: number[];
  target_branch: string;
  project_id: number;
  storage: string;
  head_commit_id: string | null;
  start_commit_sha: string | null;
  base_commit_sha: string | null;
  /** Whether the last version changes more files than are compared. */
  is_large: boolean;
  reset_approvals_on_push: boolean;
  disable_overriding_approvers_per_merge_request: boolean;
  merge_requests_author_approval: boolean;
  merge_requests_disable_committers_approval: boolean;
  require_password_to_approve: boolean;
  /** The names of all protected branches of the project. */
  protections: string[];
  /** Those of them that ask for approvals of code owners. */
  owner_protections: string[];
  rules: BasisRule[];
}

export interface RuleState extends Demand {
  /** Those whose approvals it counts; of `any_approver` none are listed. */
  eligible_ids: number[];
  approved_ids: number[];
  approvals_left: number;
}

/** The same, with the users whose approvals do not count: the author and the committers, as the project says. */
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

/** Whether code owners have to approve a merge request: it is open, and its target branch asks for that. */
export const asksOwners = (basis: ApprovalBasis): boolean =>
  isPaid(basis) &&
  basis.state === 'opened' &&
  basis.owner_protections.some((name) => isAbout(name, basis.target_branch));

/** The rules of the project and the merge request that apply to it. */
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
 * @param eligible_ids those whose approvals a rule counts that names people
 * @param approver_ids those who have approved and may count
 */
export function stateOfRule(rule: Demand, eligible_ids: readonly number[], approver_ids: readonly number[]): RuleState {
  const isAny = rule.rule_type === 'any_approver';
  const approved_ids = isAny ? [...approver_ids] : eligible_ids.filter((id) => approver_ids.includes(id));
  const missing = Math.max(0, rule.approvals_required - approved_ids.length);
  const approvals_left = isAny ? missing : Math.min(missing, eligible_ids.length - approved_ids.length);
  return { ...rule, eligible_ids: isAny ? [] : [...eligible_ids], approved_ids, approvals_left };
}

/** Whether no one can approve a rule, so that it requires no approvals. */
export const isInvalid = ({ rule_type, approvals_required, eligible_ids }: RuleState): boolean =>
  rule_type !== 'any_approver' && approvals_required > 0 && eligible_ids.length === 0;

/**
 * Why approvals do not allow a merge.
 * @param source_head where the source branch is; approvals of another head than the last version has are still to be reset
 */
export function approvalBlocker(
  state: ApprovalState,
  source_head: string | undefined,
): 'not_approved' | 'approvals_syncing' | undefined {
  const { in_effect, head_commit_id } = state;
  if (in_effect.some(({ approvals_left }) => approvals_left > 0)) return 'not_approved';
  // What a push has changed may have owners.
  const asks = asksOwners(state) || in_effect.some(({ approvals_required }) => approvals_required > 0);
  return asks && source_head !== head_commit_id ? 'approvals_syncing' : undefined;
}

/** More names than this are not listed. */
const maximumNamed = 20;

/**
 * The system note of approvals that were removed.
 * @param usernames of those who had given them
 * @param reason its end, e.g. `by pushing to the branch`
 */
export function wordsForReset(usernames: readonly string[], reason?: string): string {
  const others = usernames.length - maximumNamed;
  const named = usernames.slice(0, maximumNamed).map((username) => `@${username}`);
  const all = others > 0 ? [...named, `${others} more`] : named;
  const names = new Intl.ListFormat('en').format(all);
  return `reset approvals from ${names}${reason === undefined ? '' : ` ${reason}`}`;
}
