import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BranchChoice, Policy, PolicySetting, Scope } from '../../../security_policies/index.ts';
import { isInScope, type Place, policiesFor, policyRefusal, type Reached, rulesAbout } from './rules.ts';

const place: Place = {
  ...{ project_id: 7, full_path: 'orchard/apples', default_branch: 'main' },
  ...{ group_ids: [1, 2], framework_ids: [30] },
};

const policy = (given: Partial<Policy> = {}): Policy => ({
  ...{ name: 'Four eyes', description: null, enabled: true, settings: [], scope: {}, fails_closed: true, tells: false },
  rules: [{ type: 'any_merge_request', branch_type: 'protected' }],
  demands: [],
  ...given,
});

const reached = (...policies: Policy[]): Reached => ({
  ...place,
  sources: [{ project_id: 9, full_path: 'orchard/policies', policies }],
});

test('a policy applies to the projects that all parts of its scope choose', () => {
  const cases: [Scope, boolean][] = [
    [{}, true],
    [{ projects: {} }, true],
    [{ projects: { including: [] } }, true],
    [{ projects: { including: [7] } }, true],
    [{ projects: { including: [8] } }, false],
    [{ projects: { excluding: [7] } }, false],
    [{ projects: { excluding: [8] } }, true],
    [{ groups: { including: [2] } }, true],
    [{ groups: { including: [3] } }, false],
    [{ groups: { excluding: [1] } }, false],
    [{ groups: { including: [2] }, projects: { excluding: [7] } }, false],
    [{ compliance_frameworks: [30, 31] }, true],
    [{ compliance_frameworks: [31] }, false],
    [{ compliance_frameworks: [30], projects: { including: [8] } }, false],
  ];
  for (const [scope, expected] of cases) assert.equal(isInScope(scope, place), expected, JSON.stringify(scope));
});

test('a rule is about branches by name, by kind, and without exceptions', () => {
  const cases: [BranchChoice, string, boolean, boolean][] = [
    [{ branches: ['main'] }, 'main', false, true],
    [{ branches: ['release/*'] }, 'release/1', false, true],
    [{ branches: ['release/*'] }, 'main', true, false],
    [{ branches: [] }, 'main', true, true],
    [{ branches: [] }, 'main', false, false],
    [{ branch_type: 'default' }, 'main', false, true],
    [{ branch_type: 'default' }, 'release/1', true, false],
    [{ branch_type: 'protected' }, 'release/1', true, true],
    [{ branch_type: 'protected' }, 'topic', false, false],
    [{ branch_type: 'protected', branch_exceptions: [{ name: 'main', full_path: null }] }, 'main', true, false],
    [
      { branch_type: 'default', branch_exceptions: [{ name: 'main', full_path: 'Orchard/Apples' }] },
      'main',
      true,
      false,
    ],
    [{ branch_type: 'default', branch_exceptions: [{ name: 'main', full_path: 'orchard/pears' }] }, 'main', true, true],
  ];
  for (const [choice, name, is_protected, expected] of cases) {
    const rules = [{ type: 'any_merge_request', ...choice }];
    const found = rulesAbout(policy({ rules }), { name, is_protected }, place);
    assert.equal(found.length > 0, expected, JSON.stringify([choice, name]));
  }
});

test('policies that are not enabled or not about the project do not apply', () => {
  const all = reached(policy(), policy({ enabled: false }), policy({ scope: { projects: { including: [8] } } }));
  assert.deepEqual(
    policiesFor(all).map(({ source }) => source),
    [{ project_id: 9, full_path: 'orchard/policies' }],
  );
  assert.deepEqual(policiesFor(null), []);
});

test('pushes to protected branches and their deletion are refused by settings', () => {
  const refusal = (deletes: boolean, ...settings: PolicySetting[]) =>
    policyRefusal(reached(policy({ settings })), 'main', deletes);
  const pushed = ["Push to branch 'main' does not follow the policy 'Four eyes'"];
  assert.deepEqual([refusal(false), refusal(true)], [[], []]);
  assert.deepEqual(refusal(false, 'prevent_pushing_and_force_pushing'), pushed);
  assert.deepEqual(refusal(true, 'prevent_pushing_and_force_pushing'), pushed);
  assert.deepEqual(refusal(false, 'block_branch_modification'), []);
  assert.deepEqual(refusal(true, 'block_branch_modification'), [
    "Branch 'main' stays as it is, by the policy 'Four eyes'",
  ]);
});
