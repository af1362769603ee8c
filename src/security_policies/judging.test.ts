import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FoundVulnerability, LicensedPackage } from './facts.ts';
import { factsFor, judge, type KnownFacts } from './judging.ts';
import type { Policy, Rule } from './policies.ts';

const policy = (fails_closed = true): Policy => ({
  ...{ name: 'Four eyes', description: null, enabled: true, rules: [], settings: [], scope: {} },
  demands: [],
  fails_closed,
  tells: false,
});

const reasons = (rule: Rule, facts: KnownFacts, fails_closed = true) =>
  judge(policy(fails_closed), [rule], facts).reasons;

const found = (given: Partial<FoundVulnerability> = {}): FoundVulnerability => ({
  ...{ name: 'CVE-2026-1', severity: 'high', package: 'pear 1.0.0', fixed_version: '1.0.1' },
  ...{ is_new: true, state: 'detected', age_days: null },
  ...given,
});

test('a rule on any merge request asks always, or for commits that are not signed', () => {
  const any = { type: 'any_merge_request', commits: 'any' };
  assert.deepEqual(reasons(any, {}), ['Each merge request into the branch needs it.']);
  assert.deepEqual(reasons({ type: 'any_merge_request' }, {}), ['Each merge request into the branch needs it.']);
  const unsigned = { type: 'any_merge_request', commits: 'unsigned' };
  assert.deepEqual(reasons(unsigned, { unsigned_commits: 0 }), []);
  assert.deepEqual(reasons(unsigned, { unsigned_commits: 1 }), ['One commit is not signed.']);
  assert.deepEqual(reasons(unsigned, { unsigned_commits: 1_200 }), ['1,200 commits are not signed.']);
  assert.deepEqual([factsFor([any]), factsFor([any, unsigned, unsigned])], [[], ['unsigned_commits']]);
});

const finding = (given: object = {}): Rule => ({
  ...{ type: 'scan_finding', scanners: ['dependency_scanning'], vulnerabilities_allowed: 0 },
  ...{ severity_levels: [], vulnerability_states: [] },
  ...given,
});

test('a rule on vulnerabilities counts those of its severities, states, age and attributes', () => {
  const asks = (rule: Rule, ...all: FoundVulnerability[]) => reasons(rule, { vulnerabilities: all }).length > 0;
  assert.deepEqual(reasons(finding(), { vulnerabilities: [found()] }), [
    'pear 1.0.0 has CVE-2026-1 (high). Upgrade it to 1.0.1.',
  ]);
  assert.deepEqual(reasons(finding(), { vulnerabilities: [found({ fixed_version: null })] }), [
    'pear 1.0.0 has CVE-2026-1 (high). No version is known that fixes it.',
  ]);
  assert.equal(asks(finding()), false);
  assert.equal(asks(finding({ vulnerabilities_allowed: 1 }), found()), false);
  assert.equal(asks(finding({ vulnerabilities_allowed: 1 }), found(), found({ name: 'CVE-2026-2' })), true);
  assert.equal(asks(finding({ severity_levels: ['critical'] }), found()), false);
  assert.equal(asks(finding({ severity_levels: ['critical', 'high'] }), found()), true);
  // Without states, those that are new count.
  assert.equal(asks(finding(), found({ is_new: false })), false);
  const old = finding({ vulnerability_states: ['detected'] });
  assert.equal(asks(old, found({ is_new: false })), true);
  assert.equal(asks(old, found()), false);
  assert.equal(asks(old, found({ is_new: false, state: 'dismissed' })), false);
  const untriaged = finding({ vulnerability_states: ['new_needs_triage'] });
  assert.equal(asks(untriaged, found()), true);
  assert.equal(asks(untriaged, found({ state: 'dismissed' })), false);
  assert.equal(asks(finding({ vulnerability_states: ['new_dismissed'] }), found({ state: 'dismissed' })), true);
  const aged = (operator: string) => ({ ...old, vulnerability_age: { operator, limit_days: 14 } });
  assert.equal(asks(aged('greater_than'), found({ is_new: false, age_days: 15 })), true);
  assert.equal(asks(aged('greater_than'), found({ is_new: false, age_days: 14 })), false);
  assert.equal(asks(aged('less_than'), found({ is_new: false, age_days: 13 })), true);
  const fixable = finding({ vulnerability_attributes: { fix_available: true } });
  assert.deepEqual([asks(fixable, found()), asks(fixable, found({ fixed_version: null }))], [true, false]);
  assert.equal(asks(finding({ vulnerability_attributes: { false_positive: true } }), found()), false);
});

test('only the first findings are told one by one', () => {
  const many = Array.from({ length: 30 }, (_, at) => found({ name: `CVE-2026-${at}` }));
  const told = reasons(finding(), { vulnerabilities: many });
  assert.deepEqual([told.length, told.at(-1)], [21, '10 more are not shown.']);
});

test('a rule on licenses forbids those that it names, or all others', () => {
  const rule = (forbids: boolean, license_states = ['newly_detected', 'detected']): Rule => ({
    ...{ type: 'license_finding', match_on_inclusion_license: forbids, license_types: ['MIT'], license_states },
  });
  const pear = (licenses: string[], is_new = true): LicensedPackage => ({ package: 'pear 1', licenses, is_new });
  const asks = (one: Rule, each: LicensedPackage) => reasons(one, { packages: [each] }).length > 0;
  assert.deepEqual([asks(rule(true), pear(['mit'])), asks(rule(true), pear(['Apache-2.0']))], [true, false]);
  assert.deepEqual([asks(rule(false), pear(['MIT'])), asks(rule(false), pear(['MIT', 'Apache-2.0']))], [false, true]);
  assert.deepEqual(reasons(rule(false), { packages: [pear(['unknown'])] }), ['No file says which license pear 1 has.']);
  assert.equal(asks(rule(true, ['newly_detected']), pear(['MIT'], false)), false);
  assert.equal(asks(rule(true, ['detected']), pear(['MIT'], false)), true);
});

test('what cannot be evaluated asks if the policy fails closed', () => {
  const unsigned = { type: 'any_merge_request', commits: 'unsigned' };
  const report_type = 'any_merge_request';
  const reasonsNow = ['The commits are not examined yet.'];
  assert.deepEqual(judge(policy(), [unsigned], {}), { asks: true, is_known: false, reasons: reasonsNow, report_type });
  assert.deepEqual(judge(policy(false), [unsigned], {}), { asks: false, is_known: false, reasons: [], report_type });
  assert.deepEqual(reasons(finding(), {}), ['The vulnerabilities of the dependencies are not known yet.']);
  assert.deepEqual(reasons(finding(), {}, false), []);
});

test('a policy is named after the first of its rules that asks', () => {
  const any = { type: 'any_merge_request' };
  const judged = (...rules: Rule[]) => judge(policy(), rules, { vulnerabilities: [], packages: [] }).report_type;
  const license = { type: 'license_finding', license_types: [], license_states: [] };
  assert.deepEqual(
    [judged(finding(), any), judged(license), judged(finding())],
    ['any_merge_request', 'license_scanning', 'scan_finding'],
  );
});
