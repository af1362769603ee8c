import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapped } from './maps.ts';

test('what tools put in front of a source map does not keep it from being read', () => {
  const map = JSON.stringify({ version: 3, sources: ['a.ts'], names: ['b'], mappings: 'AAAAA' });
  for (const json of [map, `\ufeff${map}`, `)]}'\n${map}`, `\ufeff)]}'x\n${map}`]) {
    const [found] =
      mapped({ bytes: Uint8Array.from(Buffer.from(json)), is_deflated: false, positions: [[1, 1]] }) ?? [];
    assert.equal(found?.name, 'b', json);
  }
});
