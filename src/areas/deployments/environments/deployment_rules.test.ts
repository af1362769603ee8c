import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Freeze, type Outcome, outcomeOf } from './deployment_rules.ts';
import { type DeploymentStatus, deploymentStatuses, type RecordedStatus, recordedStatuses } from './rules.ts';

/**
 * What becomes of a deployment: without a freeze, in one that marks (`*`: it is marked) and in one that refuses; last, whatever the freeze, where approvals are missing. Words that
 * are no statuses say why it is refused.
 */
const table = `
  new      running  | running  running* freeze   | blocked
  new      success  | success  success* freeze   | approvals
  new      failed   | failed   failed   failed   | failed
  new      canceled | canceled canceled canceled | canceled
  created  running  | running  running* freeze   | approvals
  created  success  | success  success* freeze   | approvals
  created  failed   | failed   failed   failed   | failed
  created  canceled | canceled canceled canceled | canceled
  blocked  running  | running  running* freeze   | approvals
  blocked  success  | success  success* freeze   | approvals
  blocked  failed   | failed   failed   failed   | failed
  blocked  canceled | canceled canceled canceled | canceled
  running  running  | transition transition transition | transition
  running  success  | success  success  success  | success
  running  failed   | failed   failed   failed   | failed
  running  canceled | canceled canceled canceled | canceled
  success  running  | transition transition transition | transition
  success  success  | transition transition transition | transition
  success  failed   | failed   failed   failed   | failed
  success  canceled | canceled canceled canceled | canceled
  failed   running  | transition transition transition | transition
  failed   success  | success  success* freeze   | approvals
  failed   failed   | transition transition transition | transition
  failed   canceled | canceled canceled canceled | canceled
  canceled running  | transition transition transition | transition
  canceled success  | success  success* freeze   | approvals
  canceled failed   | failed   failed   failed   | failed
  canceled canceled | transition transition transition | transition
  skipped  running  | transition transition transition | transition
  skipped  success  | success  success* freeze   | approvals
  skipped  failed   | failed   failed   failed   | failed
  skipped  canceled | canceled canceled canceled | canceled
`;

const shown = (outcome: Outcome): string =>
  'refused' in outcome ? outcome.refused : `${outcome.status}${outcome.during_freeze ? '*' : ''}`;

const freezes: readonly Freeze[] = ['none', 'marks', 'refuses'];

test('status, approvals, freeze and protection decide together what becomes of a deployment', () => {
  const rows = table.trim().split('\n');
  assert.equal(rows.length, (deploymentStatuses.length + 1) * recordedStatuses.length, 'every pair has a row');
  for (const row of rows) {
    const [[before, to], expected, [waiting]] = row.split('|').map((part) => part.trim().split(/ +/)) as [
      [DeploymentStatus | 'new', RecordedStatus],
      string[],
      [string],
    ];
    const from = before === 'new' ? undefined : before;
    for (const [index, freeze] of freezes.entries()) {
      const situation = { from, to, freeze, may_deploy: true, missing_approvals: 0 };
      const name = `${before} to ${to}, ${freeze}`;
      assert.equal(shown(outcomeOf(situation)), expected[index], name);
      assert.equal(shown(outcomeOf({ ...situation, missing_approvals: 1 })), waiting, `${name}, not approved`);
      for (const missing_approvals of [0, 1])
        assert.equal(shown(outcomeOf({ ...situation, may_deploy: false, missing_approvals })), 'protected', name);
    }
  }
});
