/** What people do with an issue, epic or merge request besides writing: move, copy, delete, link, time and to-do items. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Browser, browserOf, fieldsIn } from '../support/browser.ts';
import { addIssue } from '../support/issues.ts';
import { addMergeRequest, worldWithTopic } from '../support/merge_requests.ts';
import { sent } from '../support/sent.ts';
import type { World } from '../support/world.ts';

let known: Promise<{ here: World; browser: Browser; at: string; base: string }> | undefined;
/** One world for all tests of the file, in which the owner has signed in. */
const visit = () =>
  (known ??= (async () => {
    const here = await worldWithTopic();
    const at = `/${here.project.full_path}/-`;
    return { here, browser: await browserOf(here, here.people.owner), at, base: `${at}/issues` };
  })());

test('an issue is moved to another project, and copied with its comments', async () => {
  const { here, browser, base } = await visit();
  const { as, group, project } = here;
  const other = await sent(as('owner').post('/projects', { name: 'Pears', namespace_id: group.id }));
  const { iid } = await addIssue(here, { title: 'Graft' });
  await sent(as('owner').post(`/projects/${project.id}/issues/${iid}/notes`, { body: 'In spring' }));
  assert.match((await browser.get(`${base}/${iid}`)).html, new RegExp(`href="${base}/${iid}/move"`));
  const page = `${base}/${iid}/move`;
  const { html } = await browser.get(`${page}?search=pears`);
  assert.match(html, new RegExp(`<option value="${other.id}">${other.path_with_namespace}<`));

  const copied = await browser.send(page, 'copy', { to_project_id: String(project.id), with_notes: 'true' });
  assert.equal(copied.status, 303);
  assert.ok(copied.to!.startsWith(`${base}/`));
  assert.match((await browser.get(copied.to!)).html, /In spring/);
  const moved = await browser.send(page, 'move', { to_project_id: String(other.id) });
  assert.equal(moved.to, `/${other.path_with_namespace}/-/issues/1`);
  assert.match((await browser.get(moved.to!)).html, /In spring/);
  const again = await browser.send(page, 'move', { to_project_id: String(project.id) });
  assert.equal(again.status, 400);
  assert.match(again.html, /role="alert">Cannot move work item/);
});

test('an issue, an epic and a merge request are deleted after their reference was typed', async () => {
  const { here, browser, at, base } = await visit();
  const { iid } = await addIssue(here, { title: 'Weeds' });
  const { iid: change } = await addMergeRequest(here);
  const group = `/groups/${here.group.full_path}/-/epics`;
  const { to: epic } = await browser.send(`${group}/new`, 'create', { title: 'All weeds' });
  for (const [address, reference, list] of [
    [`${base}/${iid}`, `#${iid}`, base],
    [`${at}/merge_requests/${change}`, `!${change}`, `${at}/merge_requests`],
    [epic!, `&${epic!.split('/').at(-1)}`, group],
  ] as const) {
    const page = `${address}/delete`;
    const { html } = await browser.get(page);
    assert.match(html, /Nobody can bring it back/);
    const refused = await browser.send(page, 'remove', { ...fieldsIn(html, 'remove'), typed: 'something' });
    assert.equal(refused.status, 400);
    assert.equal((await browser.get(address)).status, 200);
    assert.equal((await browser.send(page, 'remove', { typed: reference })).to, list);
    assert.equal((await browser.get(address)).status, 404);
  }
  const { iid: kept } = await addIssue(here, { title: 'Herbs' });
  const maintainer = await browserOf(here, here.people.maintainer);
  assert.match((await maintainer.get(`${base}/${kept}/delete`)).html, /You may not delete this issue/);
  assert.doesNotMatch((await maintainer.get(`${base}/${kept}`)).html, /\/delete"/);
});

test('time is estimated, spent and reset beside an issue and a merge request', async () => {
  const { here, browser, at, base } = await visit();
  const { iid } = await addIssue(here, { title: 'Prune' });
  const { iid: change } = await addMergeRequest(here);
  for (const page of [`${base}/${iid}`, `${at}/merge_requests/${change}`]) {
    const open = `${page}?change=time`;
    assert.doesNotMatch((await browser.get(page)).html, /id="spend"/);
    const { html } = await browser.get(open);
    for (const form of ['spend', 'estimate']) assert.ok(html.includes(`id="${form}"`), form);
    assert.equal((await browser.send(open, 'estimate', { duration: '1d' })).to, page);
    assert.equal((await browser.send(open, 'spend', { duration: '3h', summary: 'Cuts' })).to, page);
    assert.match((await browser.get(page)).html, /Time<a [\s\S]{0,900}<dd>3h of 1d/);
    const refused = await browser.send(open, 'spend', { duration: '-2d' });
    assert.equal(refused.status, 400);
    assert.match(refused.html, /id="spend-duration-reason">Time spent Time to subtract exceeds/);
    assert.equal((await browser.send(open, 'estimate', { duration: 'long' })).status, 400);
    assert.equal((await browser.send(open, 'reset_spent')).to, page);
    assert.match((await browser.get(page)).html, /<dd>1d estimated/);
    await browser.send(open, 'reset_estimate');
    assert.doesNotMatch((await browser.get(page)).html, /1d estimated/);
  }
  const guest = await browserOf(here, here.people.guest);
  assert.doesNotMatch((await guest.get(`${base}/${iid}?change=time`)).html, /id="spend"/);
});

test('issues are linked by number, reference or address, and a link is removed', async () => {
  const { here, browser, base } = await visit();
  const { project } = here;
  const [one, two, three, four] = await Promise.all(
    ['One', 'Two', 'Three', 'Four'].map((title) => addIssue(here, { title })),
  );
  const page = `${base}/${one!.iid}`;
  const link = (target: string, link_type = 'relates_to') => browser.send(page, 'link', { target, link_type });
  assert.equal((await link(String(two!.iid))).to, page);
  assert.equal((await link(`${project.full_path}#${three!.iid}`, 'blocks')).to, page);
  assert.equal((await link(four!.web_url)).to, page);
  const { html } = await browser.get(page);
  for (const words of ['Relates to <a[^>]*>Two', 'Blocks <a[^>]*>Three', 'Relates to <a[^>]*>Four'])
    assert.match(html, new RegExp(words));
  const unreadable = await link('the other one');
  assert.equal(unreadable.status, 400);
  assert.match(unreadable.html, /id="link-target-reason">Issue has to be the number/);
  assert.equal((await link('9999')).status, 404);
  assert.equal((await link(String(two!.iid))).status, 409);

  const [, form] = /id="(unlink-\d+)"/.exec(html)!;
  assert.equal((await browser.send(page, 'unlink', fieldsIn(html, form!))).to, page);
  assert.doesNotMatch((await browser.get(page)).html, />Two</);
});

test('an issue, an epic and a merge request are put on the to-do list', async () => {
  const { here, browser, at, base } = await visit();
  const { iid } = await addIssue(here, { title: 'Ripening' });
  const { iid: change } = await (await sent(here.as('owner').get(`/projects/${here.project.id}/merge_requests`)))[0];
  const { to: epic } = await browser.send(`/groups/${here.group.full_path}/-/epics/new`, 'create', { title: 'Ripe' });
  for (const page of [`${base}/${iid}`, `${at}/merge_requests/${change}`, epic!]) {
    assert.equal((await browser.send(page, 'add_todo', fieldsIn((await browser.get(page)).html, 'add_todo'))).to, page);
    assert.equal((await browser.send(page, 'add_todo')).status, 303);
  }
  const { html } = await browser.get('/dashboard/todos');
  for (const title of ['Ripening', 'Sow the beans', 'Ripe']) assert.ok(html.includes(`>${title}<`), title);
});

test('an incident has metric images, whose captions are changed', async () => {
  const { here, browser, base } = await visit();
  const { iid } = await addIssue(here, { title: 'Frost', issue_type: 'incident' });
  const page = `${base}/${iid}`;
  const body = new FormData();
  body.append('file', new Blob([Buffer.from('R0lGODlhAQABAAAAACw=', 'base64')]), 'night.gif');
  body.append('url_text', 'The night');
  assert.equal((await browser.sendFiles(page, 'add_metric', body)).to, page);
  const { html } = await browser.get(page);
  const [, image] = /<img src="([^"]*night\.gif)" alt="The night"/.exec(html)!;
  assert.equal((await browser.get(image!)).status, 200);
  const [, form] = /id="(change_metric-\d+)"/.exec(html)!;
  const fields = { ...fieldsIn(html, form!), url_text: 'A clear night' };
  assert.equal((await browser.send(page, 'change_metric', fields)).to, page);
  const later = (await browser.get(page)).html;
  assert.match(later, /A clear night/);
  const removal = fieldsIn(later, form!.replace('change', 'remove'));
  assert.equal((await browser.send(page, 'remove_metric', removal)).to, page);
  assert.match((await browser.get(page)).html, /There are no images yet/);
  const { iid: other } = await addIssue(here, { title: 'Plain' });
  assert.doesNotMatch((await browser.get(`${base}/${other}`)).html, /Metrics/);
});
