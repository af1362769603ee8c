/** What holds for every page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pages } from '../../src/areas/pages.ts';
import { pageFinder } from '../../src/pages/routes.ts';
import { browserOf } from '../support/browser.ts';
import { shownWorld } from '../support/shown_world.ts';

/** Addresses of providers, of which a server without COPPICE_SIGN_IN has none. */
const ofProviders = ['/users/auth/:provider', '/users/auth/:provider/callback'];

/** The address to which applications send people, with what they ask. */
const ofApplications = '/oauth/authorize';

test('every page opens, and is the one that its address leads to', async () => {
  const here = await shownWorld({});
  const find = pageFinder(pages);
  const browser = await browserOf(here, here.people.admin);
  const wrong: string[] = [];
  for (const { path, ...page } of pages) {
    const address = here.addresses.get(path)!;
    const found = find(address)?.page.path;
    if (found !== path) wrong.push(`${address} leads to ${found}`);
    const { status } = await browser.get(address);
    const expected = path === ofApplications ? 400 : ofProviders.includes(path) ? 404 : 'to' in page ? 302 : 200;
    if (status !== expected) wrong.push(`${path}: ${address} answers ${status}`);
  }
  assert.deepEqual(wrong, []);
});
