/** What a type of rules is: a value. The engine knows none by its name. */
import type { Members, Parsed } from '../../ci_configuration/shapes/shape.ts';
import type { FactName, Facts } from '../facts.ts';

/** A type of rules. */
export interface RuleKind<M extends Members> {
  /** The `type` of its rules. */
  type: string;
  /** The `report_type` of the approval rules that follow from it. */
  report_type: 'any_merge_request' | 'scan_finding' | 'license_scanning';
  /** The members of a rule besides the branches, which all rules have. */
  members: M;
  required: readonly (keyof M & string)[];
  /** The facts without which a rule cannot be evaluated. */
  needs(rule: Parsed<M>): readonly FactName[];
  /**
   * Why a merge request needs what the policy demands, as sentences; empty if it does not.
   * @param facts those that the rule needs are there
   */
  reasons(rule: Parsed<M>, facts: Facts): string[];
}

export type AnyRuleKind = RuleKind<Members>;

/** Declares a type of rules. `kinds/index.ts` lists these declarations. */
export const ruleKind = <M extends Members>(kind: RuleKind<M>): AnyRuleKind => kind as unknown as AnyRuleKind;
