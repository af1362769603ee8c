/** Whether a policy asks for what it demands. Pure functions. */
import type { FactName, Facts } from './facts.ts';
import { ruleKinds } from './kinds/index.ts';
import type { Policy, Rule } from './policies.ts';

/** The facts that rules need, each once. */
export const factsFor = (rules: readonly Rule[]): FactName[] => [
  ...new Set(rules.flatMap((rule) => ruleKinds.get(rule.type)?.needs(rule) ?? [])),
];

/** What is known of a merge request. Facts that could not be gathered are missing. */
export type KnownFacts = Partial<Facts>;

export interface Judgement {
  /** Whether the policy asks for its approvals. */
  asks: boolean;
  /** Why, as sentences; those of rules that could not be evaluated among them. */
  reasons: string[];
}

const unknownText: Readonly<Record<FactName, string>> = {
  unsigned_commits: 'The commits are not examined yet.',
  vulnerabilities: 'The vulnerabilities of the dependencies are not known yet.',
  packages: 'The licenses of the dependencies are not known yet.',
};

/**
 * Whether a policy asks for its approvals: one of its rules does, or cannot be evaluated and the policy fails closed.
 * @param rules those of the policy that are about the target branch
 */
export function judge({ fails_closed }: Policy, rules: readonly Rule[], facts: KnownFacts): Judgement {
  const reasons = rules.flatMap((rule) => {
    const kind = ruleKinds.get(rule.type);
    // A type that this version no longer knows.
    if (!kind) return fails_closed ? [`Rules of the type ${rule.type} are not known.`] : [];
    const missing = kind.needs(rule).filter((name) => facts[name] === undefined);
    if (missing.length > 0) return fails_closed ? missing.map((name) => unknownText[name]) : [];
    return kind.reasons(rule, facts as Facts);
  });
  return { asks: reasons.length > 0, reasons: [...new Set(reasons)] };
}
