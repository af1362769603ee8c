import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextTag, notesOf } from './proposal_rules.ts';

test('the last number of a tag is one more, and a tag without a number gets one', () => {
  for (const [last, next] of [
    [undefined, 'v1.0.0'],
    ['v1', 'v2'],
    ['v1.2.9', 'v1.2.10'],
    ['1.0-rc1', '1.0-rc2'],
    ['v2.0-beta', 'v2.1-beta'],
    ['harvest', 'harvest-2'],
    ['9'.repeat(20), `1${'0'.repeat(20)}`],
  ] as const)
    assert.equal(nextTag(last), next);
});

test('notes have a line for each merge request', () => {
  assert.equal(notesOf([{ title: 'Pick', iid: 3 }]), '- Pick (!3)');
  assert.equal(notesOf([]), '');
});
