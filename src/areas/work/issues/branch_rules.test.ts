import assert from 'node:assert/strict';
import { test } from 'node:test';
import { branchFor } from './branch_rules.ts';

test('the name of the branch of an issue has its number and the words of its title', () => {
  const named = (title: string, confidential = false) => branchFor({ iid: 7, title, confidential });
  assert.equal(named('Prune the trees'), '7-prune-the-trees');
  assert.equal(named('  Élan: "vital"/..lock '), '7-elan-vital-lock');
  assert.equal(named('剪枝'), '7');
  assert.equal(named('Who did it', true), '7-confidential-issue');
  assert.equal(named('x '.repeat(200)).length, 99);
});
