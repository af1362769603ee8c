/** What visitors who are not signed in take of a process with pages that are costly to make. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { anonymousBrowser, browserOf } from '../support/browser.ts';
import { filledWorld } from '../support/repository.ts';
import type { World } from '../support/world.ts';

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

/** Asks for something from an address of this machine, and reads no more of it than its head. */
function held(url: string, localAddress: string) {
  const request = get(url, { agent: false, localAddress });
  request.on('error', () => {}); // It is cut off at the end.
  const status = once(request, 'response').then(([{ statusCode }]) => statusCode as number);
  status.catch(() => {});
  return { request, status };
}

/** The whole answer to a browser at an address of this machine. */
async function fetchFrom(localAddress: string, url: string) {
  const request = get(url, { agent: false, localAddress, headers: { accept: 'text/html' } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}

/** Asks so many times for the same, and gives those that were answered first. */
async function heldFirst(url: string, localAddress: string, { asked, first }: { asked: number; first: number }) {
  const all = Array.from({ length: asked }, () => held(url, localAddress));
  const answered: { request: ClientRequest; status: number }[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const { request, status } of all)
    status.then(
      (code) => {
        answered.push({ request, status: code });
        if (answered.length === first) resolve();
      },
      () => {},
    );
  await promise;
  return { all, answered, statuses: answered.map(({ status }) => status) };
}

test('strangers take a quarter of a process with costly pages, one address a quarter of that, and leave the rest to others', async () => {
  const here = await publicWorld();
  const at = `/${here.project.full_path}`;
  const raw = `${here.url}${at}/-/raw/main/leaves.txt`;
  // Four are served, eight wait, and one is refused.
  const many = await heldFirst(raw, '127.0.0.2', { asked: 13, first: 5 });
  assert.deepEqual(many.statuses.toSorted(), [200, 200, 200, 200, 503]);
  const refused = await fetchFrom('127.0.0.2', `${here.url}${at}/-/tree/main`);
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1']);
  assert.match(refused.text, /<h1>Busy<\/h1>/);
  const stranger = anonymousBrowser(here.url);
  for (const page of ['tree/main', 'commits/main', 'archive/main/a.zip', 'raw/main/README.md'])
    assert.equal((await stranger.get(`${at}/-/${page}`)).status, 200, page);

  // Others take what is left.
  const others = ['127.0.0.3', '127.0.0.4', '127.0.0.5'];
  const rest = await Promise.all(others.map((address) => heldFirst(raw, address, { asked: 4, first: 4 })));
  const late = stranger.get(`${at}/-/tree/main`);
  assert.equal((await stranger.get(at)).status, 200);
  assert.equal((await stranger.get(`${at}/-/issues`)).status, 200);
  const visitor = await browserOf(here, here.people.guest);
  assert.equal((await visitor.get(`${at}/-/tree/main`)).status, 200);

  // Whoever waits is served when one of them has gone, first those who have the least.
  rest[0]!.answered[0]!.request.destroy();
  assert.equal((await late).status, 200);
  for (const { all } of [many, ...rest]) for (const { request } of all) request.destroy();
});

test('archives have places, too: one address leaves some to others', async (t) => {
  const here = await publicWorld();
  const archive = `${here.url}/api/v4/projects/${here.project.id}/repository/archive.tar`;
  const many = await heldFirst(archive, '127.0.0.6', { asked: 20, first: 16 });
  t.after(() => {
    for (const { request } of many.all) request.destroy();
  });
  const other = held(archive, '127.0.0.7');
  assert.equal(await other.status, 200);
  other.request.destroy();
  assert.equal(many.answered.length, 16);
  for (const { request } of many.answered) request.destroy();
  assert.deepEqual(new Set(await Promise.all(many.all.map(({ status }) => status))), new Set([200]));
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
