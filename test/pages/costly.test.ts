/** What visitors who are not signed in take of a process with pages that are costly to make. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, get } from 'node:http';
import { test } from 'node:test';
import { anonymousBrowser, browserOf } from '../support/browser.ts';
import { filledWorld } from '../support/repository.ts';
import type { World } from '../support/world.ts';

/** A quarter of what a process works on to begin with. */
const share = 16;

/** A public project with a file that is larger than what lies in the buffers of a connection. */
async function publicWorld(): Promise<World> {
  const here = await filledWorld({});
  await here.as('owner').put(`/groups/${here.group.id}`, { visibility: 'public' });
  await here.as('owner').put(`/projects/${here.project.id}`, { visibility: 'public' });
  const content = 'leaf\n'.repeat(3_000_000);
  const file = { branch: 'main', commit_message: 'Add leaves', content };
  const { status } = await here.as('maintainer').post(`/projects/${here.project.id}/repository/files/leaves.txt`, file);
  assert.equal(status, 201);
  return here;
}

/** Asks for a page, and reads no more of it than its head. */
async function held(url: string): Promise<ClientRequest> {
  const request = get(url, { agent: false });
  request.on('error', () => {}); // It is cut off at the end.
  const [response] = await once(request, 'response');
  assert.equal(response.statusCode, 200);
  return request;
}

test('strangers take a quarter of a process with costly pages, and leave the rest to others', async () => {
  const here = await publicWorld();
  const at = `/${here.project.full_path}`;
  const requests = await Promise.all(
    Array.from({ length: share }, () => held(`${here.url}${at}/-/raw/main/leaves.txt`)),
  );
  const stranger = anonymousBrowser(here.url);
  for (const page of ['tree/main', 'commits/main', 'archive/main/a.zip', 'raw/main/README.md']) {
    const { status, headers, html } = await stranger.get(`${at}/-/${page}`);
    assert.deepEqual([status, headers.get('retry-after')], [503, '1'], page);
    assert.match(html, /<h1>Busy<\/h1>/);
  }
  assert.equal((await stranger.get(at)).status, 200);
  assert.equal((await stranger.get(`${at}/-/issues`)).status, 200);
  const visitor = await browserOf(here, here.people.guest);
  assert.equal((await visitor.get(`${at}/-/tree/main`)).status, 200);

  for (const request of requests) request.destroy();
  // The server learns a moment later that they have gone.
  while ((await stranger.get(`${at}/-/tree/main`)).status !== 200);
});

test('costly pages can be for those who are signed in', async (t) => {
  const here = await publicWorld();
  t.after(() => here.db.updateTable('application_settings').set({ costly_pages_need_sign_in: false }).execute());
  const { status } = await here.as('admin').put('/application/settings', { costly_pages_need_sign_in: true });
  assert.equal(status, 200);
  const at = `/${here.project.full_path}`;
  const stranger = anonymousBrowser(here.url);
  const page = `${at}/-/tree/main`;
  assert.equal((await stranger.get(page)).to, `/users/sign_in?to=${encodeURIComponent(page)}`);
  assert.equal((await stranger.get(at)).status, 200);
  const visitor = await browserOf(here, here.people.guest);
  assert.equal((await visitor.get(page)).status, 200);
});

test('crawlers are told to stay away from costly pages', async () => {
  const here = await publicWorld();
  const at = `/${here.project.full_path}`;
  const stranger = anonymousBrowser(here.url);
  const robots = async (path: string) => (await stranger.get(path)).headers.get('x-robots-tag');
  assert.equal(await robots(at), null);
  for (const page of ['tree/main', 'blob/main/README.md', 'raw/main/README.md', 'commits/main'])
    assert.equal(await robots(`${at}/-/${page}`), 'noindex, nofollow', page);
  assert.equal(await robots(`${at}/-/branches`), 'noindex');
  const { html } = await stranger.get(at);
  for (const [link] of html.matchAll(/<a [^>]*href="[^"]*\/-\/(?:blob|raw|archive)\/[^>]*>/g))
    assert.match(link, /rel="nofollow"/);
});
