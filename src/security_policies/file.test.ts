import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policiesIn } from './file.ts';
import { readPolicies } from './reading.ts';

const eyes = (more = '') => `
approval_policy:
  - name: Four eyes
    enabled: true
    rules:
      - type: any_merge_request
        branch_type: default
    actions:
      - type: require_approval
        approvals_required: 1
        role_approvers: [maintainer]
${more}`;

const errorsIn = (text: string) => policiesIn(text).errors;

test('a file of policies is read with what it leaves out', () => {
  const text = eyes(`      - { type: send_bot_message, enabled: true }
    approval_settings:
      prevent_approval_by_author: true
      block_branch_modification: false
    fallback_behavior: { fail: open }
    policy_scope:
      projects: { excluding: [{ id: 7 }] }
      compliance_frameworks: [{ id: 3 }]
`);
  assert.deepEqual(policiesIn(text), {
    errors: [],
    policies: [
      {
        name: 'Four eyes',
        description: null,
        enabled: true,
        rules: [{ type: 'any_merge_request', branch_type: 'default' }],
        demands: [
          {
            ...{ user_approvers: [], user_approvers_ids: [], group_approvers: [], group_approvers_ids: [] },
            ...{ role_approvers: ['maintainer'], approvals_required: 1 },
          },
        ],
        tells: true,
        settings: ['prevent_approval_by_author'],
        fails_closed: false,
        scope: { projects: { excluding: [7] }, compliance_frameworks: [3] },
      },
    ],
  });
  for (const nothing of ['', '# none', 'approval_policy:', 'approval_policy: []'])
    assert.deepEqual(policiesIn(nothing), { policies: [], errors: [] }, nothing);
});

test('rules on vulnerabilities and on licenses have members of their own', () => {
  const text = `
approval_policy:
  - name: Fresh fruit
    enabled: true
    rules:
      - type: scan_finding
        branches: [main, "release/*"]
        branch_exceptions: [release/old, { name: main, full_path: orchard/pears }]
        scanners: [dependency_scanning]
        vulnerabilities_allowed: 2
        severity_levels: [critical, high]
        vulnerability_states: [new_needs_triage]
        vulnerability_age: { operator: greater_than, value: 2, interval: week }
        vulnerability_attributes: { fix_available: true }
      - type: license_finding
        branch_type: protected
        match_on_inclusion_license: true
        license_types: [AGPL-3.0-only]
        license_states: [newly_detected, detected]
`;
  const { policies, errors } = policiesIn(text);
  assert.deepEqual(errors, []);
  const [first, second] = policies[0]!.rules;
  assert.deepEqual(first, {
    type: 'scan_finding',
    branches: ['main', 'release/*'],
    branch_exceptions: [
      { name: 'release/old', full_path: null },
      { name: 'main', full_path: 'orchard/pears' },
    ],
    scanners: ['dependency_scanning'],
    vulnerabilities_allowed: 2,
    severity_levels: ['critical', 'high'],
    vulnerability_states: ['new_needs_triage'],
    vulnerability_age: { operator: 'greater_than', limit_days: 14 },
    vulnerability_attributes: { fix_available: true },
  });
  assert.deepEqual(second!.license_types, ['AGPL-3.0-only']);
});

test('what is wrong with a file is said in sentences, and a file with errors has no policies', () => {
  const cases: [text: string, error: string][] = [
    ['scan_execution_policy: []', 'scan_execution_policy is not supported yet'],
    ['pipeline_execution_policy: []', 'pipeline_execution_policy is not supported yet'],
    ['vulnerability_management_policy: []', 'vulnerability_management_policy is not supported yet'],
    ['fruit_policy: []', 'fruit_policy is not a kind of policies'],
    ['- a', 'The file should be a hash.'],
    ['a: 1\n---\nb: 2', 'The file has several documents.'],
    ['approval_policy: 3', 'approval_policy config should be a list'],
    ['approval_policy: [3]', 'approval_policy:1 config should be a hash'],
    [eyes('    colour: red'), 'approval_policy:1 config contains unknown keys: colour'],
    [eyes().replace('Four eyes', '""'), "approval_policy:1 name can't be blank"],
    [eyes().replace('enabled: true', 'enabled: 7'), 'approval_policy:1 enabled should be a boolean value'],
    [
      eyes().replace('branch_type: default', 'branches: [main]\n        branch_type: default'),
      'approval_policy:1:rules:1 config needs either branches or branch_type',
    ],
    [
      eyes().replace('any_merge_request', 'every_merge_request'),
      'approval_policy:1:rules:1 type should be one of: any_merge_request, scan_finding, license_finding',
    ],
    [
      eyes().replace('branch_type: default', 'branch_type: default\n        scanners: []'),
      'approval_policy:1:rules:1 config contains unknown keys: scanners',
    ],
    [
      eyes().replace('approvals_required: 1', 'approvals_required: 101'),
      'approval_policy:1:actions:1 approvals required must be less than or equal to 100',
    ],
    [
      eyes().replace('role_approvers: [maintainer]', 'user_approvers: [rowan]').replace('required: 1', 'required: 2'),
      'approval_policy:1:actions:1 config requires 2 approvals and names 1 approvers',
    ],
    [eyes().replace('role_approvers: [maintainer]', ''), 'approval_policy:1:actions:1 config names no approvers'],
    [
      eyes().replace('[maintainer]', '[gardener]'),
      'approval_policy:1:actions:1 role approvers should be the ID of a member role or one of: guest, planner, reporter, developer, maintainer, owner',
    ],
    [
      eyes().replace('name: Four eyes', 'name: "a\\0b"'),
      '(<unknown>): a text has characters that are not valid at line 3 column 12',
    ],
    [`${eyes()}${eyes().replace('\napproval_policy:', '')}`, 'approval_policy config has the name Four eyes twice'],
  ];
  for (const [text, error] of cases) {
    assert.deepEqual(errorsIn(text), [error], text);
    assert.deepEqual(policiesIn(text).policies, []);
  }
  assert.deepEqual(errorsIn(eyes().replace('any_merge_request', 'scan_finding')), [
    "approval_policy:1:rules:1 scanners can't be blank",
    "approval_policy:1:rules:1 vulnerabilities allowed can't be blank",
    "approval_policy:1:rules:1 severity levels can't be blank",
    "approval_policy:1:rules:1 vulnerability states can't be blank",
  ]);
});

test('scanners whose reports come from jobs are refused by name', () => {
  const rule = `type: scan_finding
        scanners: [dependency_scanning, dast]
        vulnerabilities_allowed: 0
        severity_levels: []
        vulnerability_states: []`;
  assert.deepEqual(errorsIn(eyes().replace('type: any_merge_request', rule)), [
    'approval_policy:1:rules:1 scanners does not support dast yet: only dependency_scanning is known at push',
  ]);
});

test('a file is bounded in all that it has', () => {
  const one = eyes().slice('\napproval_policy:\n'.length);
  const many = (count: number) =>
    `approval_policy:\n${Array.from({ length: count }, (_, at) => one.replace('Four eyes', `Policy ${at}`)).join('\n')}`;
  assert.equal(policiesIn(many(5)).policies.length, 5);
  assert.deepEqual(errorsIn(many(6)), ['approval_policy config has too many entries (maximum 5)']);
  const rules = (count: number) =>
    eyes().replace(
      / {6}- type: any_merge_request\n.*\n/,
      '      - { type: any_merge_request, branch_type: default }\n'.repeat(count),
    );
  assert.equal(policiesIn(rules(5)).policies[0]!.rules.length, 5);
  assert.deepEqual(errorsIn(rules(4_000)), ['approval_policy:1:rules config has too many entries (maximum 5)']);
  assert.deepEqual(errorsIn(`# ${'x'.repeat(256 * 1024)}`), ['The file is larger than 256 KiB.']);
  const bomb = ['a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]'];
  for (let at = 1; at < 9; at++) {
    const [name, before] = [String.fromCharCode(97 + at), String.fromCharCode(96 + at)];
    bomb.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(', ')}]`);
  }
  assert.deepEqual(errorsIn(bomb.join('\n')), ['The parsed YAML is too big']);
  assert.deepEqual(errorsIn(`approval_policy: ${'['.repeat(200)}${']'.repeat(200)}`), ['The parsed YAML is too big']);
  const unknown = Array.from({ length: 200 }, (_, at) => `key${at}: 1`).join('\n');
  assert.equal(errorsIn(unknown).length, 50);
});

test('a file is read in a thread', async () => {
  const { signal } = new AbortController();
  assert.equal((await readPolicies(eyes(), 1, signal)).policies[0]!.name, 'Four eyes');
  assert.deepEqual((await readPolicies('a: [', 1, signal)).policies, []);
});
