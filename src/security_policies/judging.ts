/** Whether a policy asks for what it demands. Pure functions. */
import type { FactName, Facts } from './facts.ts';
import { ruleKinds } from './kinds/index.ts';
import type { AnyRuleKind } from './kinds/kind.ts';
import type { Policy, Rule } from './policies.ts';

/** The facts that rules need, each once. */
export const factsFor = (rules: readonly Rule[]): FactName[] => [
  ...new Set(rules.flatMap((rule) => ruleKinds.get(rule.type)!.needs(rule))),
];

/** What is known of a merge request. Facts that could not be gathered are missing. */
export type KnownFacts = Partial<Facts>;

export type ReportType = AnyRuleKind['report_type'];

export interface Judgement {
  /** Whether the policy asks for its approvals. */
  asks: boolean;
  /** Whether all is known that its rules need. */
  is_known: boolean;
  /** Why, as sentences; those of rules that could not be evaluated among them. */
  reasons: string[];
  /** Of the first rule that asks; of the first one if none does. */
  report_type: ReportType;
}

const unknownText: Readonly<Record<FactName, string>> = {
  unsigned_commits: 'The commits are not examined yet.',
  vulnerabilities: 'The vulnerabilities of the dependencies are not known yet.',
  packages: 'The licenses of the dependencies are not known yet.',
};

function reasonsOf({ fails_closed }: Policy, rule: Rule, facts: KnownFacts): string[] {
  const kind = ruleKinds.get(rule.type)!;
  const missing = kind.needs(rule).filter((name) => facts[name] === undefined);
  if (missing.length > 0) return fails_closed ? missing.map((name) => unknownText[name]) : [];
  return kind.reasons(rule, facts as Facts);
}

/**
 * Whether a policy asks for its approvals: one of its rules does, or cannot be evaluated and the policy fails closed.
 * @param rules those of the policy that are about the target branch, at least one
 */
export function judge(policy: Policy, rules: readonly Rule[], facts: KnownFacts): Judgement {
  const judged = rules.map((rule) => ({
    report_type: ruleKinds.get(rule.type)!.report_type,
    reasons: reasonsOf(policy, rule, facts),
  }));
  const reasons = [...new Set(judged.flatMap((each) => each.reasons))];
  const { report_type } = judged.find((each) => each.reasons.length > 0) ?? judged[0]!;
  const is_known = factsFor(rules).every((name) => facts[name] !== undefined);
  return { asks: reasons.length > 0, is_known, reasons, report_type };
}
