/** Every address that the server hands out leads to a page. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { collectNotifications, sendNotification } from '../../src/areas/activity/notifications/index.ts';
import { type Browser, browserOf } from '../support/browser.ts';
import { addressesIn, checkAddresses, isNoPage, pageOf } from '../support/dead_links.ts';
import { elementsOf } from '../support/html_tree.ts';
import { mailOf } from '../support/mail.ts';
import { watchReplies } from '../support/populate.ts';
import { cloneFor } from '../support/pushing.ts';
import { allowLocalHooks, sendHooks, startReceiver } from '../support/receiver.ts';
import { headOf } from '../support/repository.ts';
import { sent } from '../support/sent.ts';
import { type ShownWorld, shownWorld } from '../support/shown_world.ts';
import { upload } from '../support/uploads.ts';

const handedOut = new Set<string>();
let here: ShownWorld;
let browser: Browser;
before(async () => {
  watchReplies((body) => addressesIn(body, handedOut));
  here = await shownWorld({});
  browser = await browserOf(here, here.people.admin);
});

/** Opens addresses: some of each page. */
async function open(addresses: Iterable<string>, of_each: number): Promise<void> {
  const paths = [...addresses].filter((address) => !isNoPage(address)).map((address) => address.split('#', 1)[0]!);
  const byPage = Map.groupBy(new Set(paths), pageOf);
  assert.deepEqual(byPage.get(undefined) ?? [], []);
  for (const found of byPage.values())
    for (const address of found.slice(0, of_each)) {
      const { status } = await browser.get(address);
      assert.ok([200, 302].includes(status), `${address} answers ${status}`);
    }
}

test('every address in a reply is one of a page, and one of each form opens', async () => {
  const { as, project, group } = here;
  for (const path of [
    '/todos',
    '/namespaces',
    '/users',
    `/users?username=${here.people.owner.username}`,
    '/snippets',
    '/bulk_imports',
    '/geo_nodes',
    `/projects/${project.id}/repository/branches`,
    `/projects/${project.id}/repository/commits`,
    `/projects/${project.id}/members/all`,
    `/projects/${project.id}/vulnerabilities`,
    `/projects/${project.id}/error_tracking/errors`,
    `/groups/${group.id}/epics`,
    `/groups/${group.id}/iterations`,
  ])
    assert.equal((await as('admin').get(path)).status, 200, path);
  assert.ok(handedOut.size > 40, String(handedOut.size));
  await open(handedOut, 3);
});

/** Where the links and images of a page lead. */
function linksIn(html: string): string[] {
  return elementsOf(html)
    .flatMap(({ attributes }) => [attributes.get('href'), attributes.get('src'), attributes.get('action')])
    .filter((address) => address !== undefined)
    .map((address) => address.replace(/^http:\/\/coppice\.test(?=\/)/, ''))
    .filter((address) => address.startsWith('/'));
}

test('every link on every page leads to a page', async () => {
  const found = new Set<string>();
  for (const address of here.addresses.values()) {
    const { html, headers } = await browser.get(address);
    if (headers.get('content-type')?.startsWith('text/html')) for (const link of linksIn(html)) found.add(link);
  }
  assert.ok(found.size > 100, String(found.size));
  await open(found, 8);
});

/** A text with a reference of each kind. */
async function referringText({ as, project, group, people }: ShownWorld): Promise<string> {
  const { body } = await upload(here, 'owner', `/projects/${project.id}`, 'note.txt');
  const sha = (await headOf(here))!;
  const snippets = await sent(as('owner').get(`/projects/${project.id}/snippets`));
  return [
    `@${people.developer.username}`,
    `@${group.full_path}`,
    '#2',
    `${project.full_path}#2`,
    '!1',
    `&1`,
    `${group.full_path}&1`,
    '%Autumn',
    '%"Season"',
    '~ripe',
    '~"shared"',
    sha,
    sha.slice(0, 8),
    `$${snippets[0].id}`,
    body.markdown,
    `http://coppice.test/${project.full_path}/-/issues/2#note_1`,
  ].join('\n\n');
}

test('references in texts lead to pages', async () => {
  const { as, project, group } = here;
  const text = await referringText(here);
  const issue = await sent(as('owner').post(`/projects/${project.id}/issues`, { title: 'Refers', description: text }));
  await sent(as('owner').post(`/projects/${project.id}/issues/${issue.iid}/notes`, { body: text }));
  const merge_request = `/projects/${project.id}/merge_requests/1`;
  await sent(as('owner').put(merge_request, { description: text, discussion_locked: false }));
  await sent(as('owner').put(`/groups/${group.id}/epics/1`, { description: text }));
  await sent(as('owner').put(`/projects/${project.id}/wikis/home`, { content: text }));
  const file = { branch: 'main', commit_message: 'Refer', content: text };
  await sent(as('maintainer').post(`/projects/${project.id}/repository/files/REFERS.md`, file));
  const project_path = `/${project.full_path}/-`;
  for (const [address, few] of [
    [`${project_path}/issues/${issue.iid}`, 14],
    [`${project_path}/merge_requests/1`, 14],
    [`/groups/${group.full_path}/-/epics/1`, 3],
    [`${project_path}/wikis/home`, 10],
    [`${project_path}/blob/main/REFERS.md`, 10],
  ] as const) {
    const { html, status } = await browser.get(address);
    assert.equal(status, 200, address);
    const texts = elementsOf(html).filter(({ attributes }) => attributes.get('class') === 'text');
    assert.ok(texts.length > 0, address);
    const links = new Set(linksIn(html));
    assert.ok(links.size >= few, `${address}: ${[...links].join(' ')}`);
    await open(links, 20);
  }
});

test('what mail, hooks, to-dos, system notes and pushes name leads to pages', async () => {
  const { as, project, people, services } = here;
  const receiver = await startReceiver();
  try {
    await allowLocalHooks(here);
    const events = ['push', 'issues', 'note', 'merge_requests', 'tag_push', 'wiki_page'];
    const all = Object.fromEntries(events.map((event) => [`${event}_events`, true]));
    await sent(as('owner').post(`/projects/${project.id}/hooks`, { url: receiver.url, ...all }));
    const title = { title: 'Rake the leaves', assignee_ids: [people.developer.id] };
    const issue = await sent(as('owner').post(`/projects/${project.id}/issues`, title));
    const body = `@${people.developer.username}, as in #2 and !1`;
    await sent(as('owner').post(`/projects/${project.id}/issues/${issue.iid}/notes`, { body }));
    await sent(as('owner').put(`/projects/${project.id}/issues/${issue.iid}`, { title: 'Rake', milestone_id: 1 }));
    const clone = await cloneFor(here, 'developer');
    await clone.begin('leaves');
    await clone.commit({ message: `Rake, see #${issue.iid}` });
    const pushed = await clone.push('http', 'leaves');
    assert.equal(pushed.code, 0, pushed.stderr);
    assert.match(pushed.stderr, /http:\/\/coppice\.test\/\S+merge_requests\/new\?/);
    const [printed] = /\/group\S+merge_requests\/new\?\S+/.exec(pushed.stderr)!;
    const told = new Set([printed!]);
    await sendHooks(here);
    const hooks = receiver.take();
    assert.ok(hooks.length >= 4, String(hooks.length));
    addressesIn(hooks, told);
    const mails = await mailOf(services, [collectNotifications, sendNotification]);
    assert.ok(mails.length > 0);
    addressesIn(mails, told);
    addressesIn((await as('developer').get('/todos')).body, told);
    checkAddresses(told, 'What is told');
    await open(told, 10);
    const { html } = await browser.get(`/${project.full_path}/-/issues/2`);
    await open(linksIn(html), 20);
  } finally {
    await receiver.stop();
  }
});
