import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../support/browser.ts';
import { world } from '../support/world.ts';

test('a browser signs in', async () => {
  const w = await world();
  const browser = await browserOf(w, w.people.developer);
  const { html } = await browser.get('/');
  assert.match(html, /Sign out/);
});
