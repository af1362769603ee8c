/** Rules on vulnerabilities of dependencies. */
import { severities } from '../../advisories/severities.ts';
import {
  attribute,
  boolean,
  entry,
  integerWithin,
  mapped,
  oneOf,
  record,
} from '../../ci_configuration/shapes/shape.ts';
import type { FoundVulnerability } from '../facts.ts';
import { listOf } from '../lists.ts';
import { ruleKind } from './kind.ts';

/** Scanners whose findings come with reports of jobs. */
const ofJobs = [
  'sast',
  'secret_detection',
  'dast',
  'container_scanning',
  'coverage_fuzzing',
  'api_fuzzing',
  'cluster_image_scanning',
  'sast_iac',
] as const;

const scanner = mapped(oneOf(['dependency_scanning', ...ofJobs]), (name, at) =>
  name === 'dependency_scanning'
    ? name
    : at.fault(`does not support ${name} yet: only dependency_scanning is known at push`),
);

const newStates = ['newly_detected', 'new_needs_triage', 'new_dismissed'] as const;
const states = [...newStates, 'detected', 'confirmed', 'dismissed', 'resolved'] as const;
type State = (typeof states)[number];
/** The states that count if a rule names none. */
const usualStates: readonly State[] = ['new_needs_triage', 'new_dismissed'];

/** The states of a finding as rules name them. */
function statesOf({ is_new, state }: FoundVulnerability): readonly State[] {
  if (!is_new) return [state];
  return ['newly_detected', state === 'dismissed' ? 'new_dismissed' : 'new_needs_triage'];
}

const days = { day: 1, week: 7, month: 30, year: 365 } as const;
const intervals = Object.keys(days) as (keyof typeof days)[];

const age = mapped(
  record(
    {
      operator: attribute(oneOf(['greater_than', 'less_than'])),
      value: attribute(integerWithin(0, 1_000, 'should be a whole number')),
      interval: attribute(oneOf(intervals)),
    },
    ['operator', 'value', 'interval'],
  ),
  ({ operator, value, interval }) => ({ operator, limit_days: value! * days[interval!] }),
);

/** New findings have no age, and are not judged by it. */
const isOfAge = (
  limit: { operator?: string | undefined; limit_days: number } | undefined,
  { age_days }: FoundVulnerability,
) => {
  if (limit === undefined || age_days === null) return true;
  return limit.operator === 'greater_than' ? age_days > limit.limit_days : age_days < limit.limit_days;
};

const attributes = record({ fix_available: attribute(boolean), false_positive: attribute(boolean) });

/** Nothing here marks findings as false. */
const hasAttributes = (
  { fix_available, false_positive }: { fix_available?: boolean; false_positive?: boolean },
  { fixed_version }: FoundVulnerability,
) => (fix_available === undefined || fix_available === (fixed_version !== null)) && false_positive !== true;

/** The most findings that are told one by one. */
const maximumTold = 20;

const sentenceOf = ({ package: name, name: vulnerability, severity, fixed_version }: FoundVulnerability): string => {
  const found = `${name} has ${vulnerability} (${severity}).`;
  return fixed_version === null
    ? `${found} No version is known that fixes it.`
    : `${found} Upgrade it to ${fixed_version}.`;
};

export const scanFinding = ruleKind({
  type: 'scan_finding',
  report_type: 'scan_finding',
  members: {
    scanners: attribute(listOf(scanner, 20)),
    vulnerabilities_allowed: attribute(integerWithin(0, 1_000_000, 'should be a whole number')),
    severity_levels: attribute(listOf(oneOf(severities), 20)),
    vulnerability_states: attribute(listOf(oneOf(states), 20)),
    vulnerability_age: entry(age),
    vulnerability_attributes: entry(attributes),
  },
  required: ['scanners', 'vulnerabilities_allowed', 'severity_levels', 'vulnerability_states'],
  needs: () => ['vulnerabilities'],
  reasons(rule, { vulnerabilities }) {
    const { severity_levels = [], vulnerability_states = [], vulnerabilities_allowed = 0 } = rule;
    const wanted = vulnerability_states.length > 0 ? vulnerability_states : usualStates;
    const counted = vulnerabilities.filter(
      (each) =>
        (severity_levels.length === 0 || severity_levels.includes(each.severity)) &&
        statesOf(each).some((state) => wanted.includes(state)) &&
        isOfAge(rule.vulnerability_age, each) &&
        hasAttributes(rule.vulnerability_attributes ?? {}, each),
    );
    if (counted.length <= vulnerabilities_allowed) return [];
    const more = counted.length - maximumTold;
    const told = counted.slice(0, maximumTold).map(sentenceOf);
    return more > 0 ? [...told, `${more.toLocaleString('en')} more are not shown.`] : told;
  },
});
