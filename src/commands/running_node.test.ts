import assert from 'node:assert/strict';
import { test } from 'node:test';
import { productVersion, runningNode } from './running_node.ts';

test('a Node version out of support is reported with its end-of-life date', () => {
  assert.equal(runningNode('24.21.0', new Date('2028-04-30T23:00:00Z')), `${productVersion} runs on Node 24.21.0.`);
  assert.equal(
    runningNode('24.21.0', new Date('2028-05-01T00:00:00Z')),
    `${productVersion} runs on Node 24.21.0. Node 24 has been out of support since 2028-04-30; use a supported long-term release.`,
  );
  assert.equal(runningNode('30.0.0', new Date('2040-01-01')), `${productVersion} runs on Node 30.0.0.`);
});
