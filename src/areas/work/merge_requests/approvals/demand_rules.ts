/** What a rule demands of a merge request, and what is left of it (docs/reference/approvals.md#rules). Pure functions. */
import type { ReportType } from '../../../../security_policies/index.ts';

/** The security policy that a rule follows from. */
export interface PolicyOrigin {
  name: string;
  /** The path of the policy project. */
  project: string;
  report_type: ReportType;
  /** Why it asks for approvals; empty if it does not. */
  reasons: string[];
  fails_closed: boolean;
  /** Whether all is known that it depends on. */
  is_known: boolean;
  /** Whether a bot says on the merge request what it asks for. */
  tells: boolean;
}

/** The requirement of a rule. */
export interface Demand {
  /** Null for rules that come from a file: of code owners, and of policies. */
  id: number | null;
  name: string;
  rule_type: 'regular' | 'any_approver' | 'code_owner' | 'report_approver';
  approvals_required: number;
  /** The section in the CODEOWNERS file. */
  section: string | null;
  policy?: PolicyOrigin;
}

export interface RuleState extends Demand {
  /** The users whose approvals count; empty for `any_approver`. */
  eligible_ids: number[];
  approved_ids: number[];
  approvals_left: number;
}

/**
 * The state of a rule. A rule that names fewer users than it requires is satisfied when all of them have approved, unless it is of a policy that fails closed.
 * @param eligible_ids the users whose approvals count for a rule that names people
 * @param approver_ids the users who have approved and whose approvals count
 */
export function stateOfRule(rule: Demand, eligible_ids: readonly number[], approver_ids: readonly number[]): RuleState {
  const isAny = rule.rule_type === 'any_approver';
  const approved_ids = isAny ? [...approver_ids] : eligible_ids.filter((id) => approver_ids.includes(id));
  const missing = Math.max(0, rule.approvals_required - approved_ids.length);
  const isStrict = isAny || rule.policy?.fails_closed === true;
  const approvals_left = isStrict ? missing : Math.min(missing, eligible_ids.length - approved_ids.length);
  return { ...rule, eligible_ids: isAny ? [] : [...eligible_ids], approved_ids, approvals_left };
}

/** Whether a rule has no eligible approver, so that it requires no approvals. */
export const isInvalid = ({ rule_type, approvals_required, eligible_ids }: RuleState): boolean =>
  rule_type !== 'any_approver' && approvals_required > 0 && eligible_ids.length === 0;
