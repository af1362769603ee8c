import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixIn, type Range } from './index.ts';

const range = (...events: Range['events']): Range => ({ type: 'SEMVER', events });

test('a fix is the first later version that no range affects', () => {
  const two = [
    range({ introduced: '0' }, { fixed: '1.2.0' }, { introduced: '2.0.0' }, { fixed: '2.1.0' }),
    range({ introduced: '1.0.0' }, { fixed: '1.10.0' }),
  ];
  assert.equal(fixIn('npm', '1.1.0', two), '1.10.0');
  assert.equal(fixIn('npm', '2.0.5', two), '2.1.0');
  assert.equal(fixIn('npm', '1.1.0', [range({ introduced: '0' }, { last_affected: '3.0.0' })]), undefined);
  assert.equal(fixIn('npm', '1.1.0', []), undefined);
  assert.equal(fixIn('Go', 'v1.1.0', two), 'v1.10.0');
});
