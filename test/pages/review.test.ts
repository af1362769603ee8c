/** What reviewers do on the pages of a merge request besides commenting: marks, versions, rules, dependencies, and what there is beside the changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followMergeRequests, prepareMergeRequest } from '../../src/areas/work/merge_requests/index.ts';
import { type Browser, browserOf, fieldsIn } from '../support/browser.ts';
import { performQueued } from '../support/jobs.ts';
import { addMergeRequest, worldWithTopic } from '../support/merge_requests.ts';
import { fileUrl, headOf, onMain } from '../support/repository.ts';
import { sent } from '../support/sent.ts';
import type { World } from '../support/world.ts';

interface Visited {
  here: World;
  browser: Browser;
  /** The address of the merge request. */
  at: string;
  iid: number;
}

/** A merge request of four files, and a maintainer who reads it. */
async function visit(): Promise<Visited> {
  const here = await worldWithTopic();
  for (const name of ['a.txt', 'b.txt', 'c.txt']) await write(here, name, `${name}\nsecond\n`);
  const { iid } = await addMergeRequest(here);
  await settle(here);
  const browser = await browserOf(here, here.people.maintainer);
  return { here, browser, iid, at: `/${here.project.full_path}/-/merge_requests/${iid}` };
}

const settle = ({ services }: World) => performQueued(services, [followMergeRequests, prepareMergeRequest]);

const write = async ({ as, project }: World, name: string, content: string, method: 'post' | 'put' = 'post') =>
  sent(as('maintainer')[method](fileUrl(project, name), { ...onMain, branch: 'topic', content }));

async function shown(browser: Browser, path: string): Promise<string> {
  const { status, html } = await browser.get(path);
  assert.equal(status, 200, path);
  return html;
}

/** A file of the changes as it is shown. */
const fileIn = (html: string, number: number): string =>
  new RegExp(`<section class="file" id="file-${number}"[\\s\\S]*?</section>\\n`).exec(html)![0];

test('a file is marked as viewed until its changes change', async () => {
  const { here, browser, at } = await visit();
  const diffs = `${at}/diffs`;
  const before = await shown(browser, diffs);
  assert.match(before, /Viewed 0 of 4</);
  assert.match(fileIn(before, 2), /<h3>b\.txt[\s\S]*<table/);
  const marked = await browser.send(diffs, 'view', fieldsIn(before, 'view-2'));
  assert.deepEqual([marked.status, marked.to], [303, `${diffs}#file-2`]);
  const after = await shown(browser, diffs);
  assert.match(after, /Viewed 1 of 4</);
  assert.match(fileIn(after, 2), /Show the \d lines of this diff/);
  assert.doesNotMatch(fileIn(after, 2), /<table/);
  assert.match(await shown(browser, `${diffs}?file=2`), /<h3>b\.txt[\s\S]*<table/);
  const other = await browserOf(here, here.people.developer);
  assert.match(await shown(other, diffs), /Viewed 0 of 4</);

  await write(here, 'a.txt', 'a.txt\nchanged\n', 'put');
  await settle(here);
  assert.match(await shown(browser, diffs), /Viewed 1 of 4</);
  await write(here, 'b.txt', 'b.txt\nchanged\n', 'put');
  await settle(here);
  const fresh = await shown(browser, diffs);
  assert.match(fresh, /Viewed 0 of 4</);

  await browser.send(diffs, 'view', fieldsIn(fresh, 'view-1'));
  const taken = fieldsIn(await shown(browser, diffs), 'view-1');
  assert.deepEqual(taken.viewed, ['false']);
  await browser.send(diffs, 'view', taken);
  assert.match(await shown(browser, diffs), /Viewed 0 of 4</);
  assert.equal((await browser.send(diffs, 'view', { mark: 'none', viewed: 'true' })).status, 400);
});

test('who has looked at a version is led to what has changed since', async () => {
  const { here, browser, at } = await visit();
  const diffs = `${at}/diffs`;
  const since = /1 new version since you last looked: <a href="([^"]*)"/;
  assert.doesNotMatch(await shown(browser, diffs), since);
  await write(here, 'd.txt', 'd\n');
  await settle(here);
  const link = since.exec(await shown(browser, diffs))?.[1];
  assert.ok(link);
  const changed = await shown(browser, link.replaceAll('&amp;', '&'));
  assert.ok(changed.includes('<h3>d.txt') && !changed.includes('<h3>a.txt'));
  // It stays, until there is a further one.
  assert.match(await shown(browser, diffs), since);
  assert.doesNotMatch(await shown(await browserOf(here, here.people.developer), diffs), since);
});

test('threads that are left lead to each other', async () => {
  const { browser, at } = await visit();
  const diffs = `${at}/diffs`;
  const ids: string[] = [];
  for (const line of ['3..1', '1..2']) {
    const fields = fieldsIn(await shown(browser, `${diffs}?at=${line}`), 'thread');
    const { to } = await browser.send(`${diffs}?at=${line}`, 'thread', { ...fields, body: 'Why?' });
    ids.push(to!.split('#')[1]!);
  }
  const html = await shown(browser, diffs);
  const [second, first] = ids;
  assert.match(html, new RegExp(`2 unresolved threads\\. <a href="#${first}" data-key="n">Go to the first one`));
  assert.deepEqual(
    [...html.matchAll(/<a href="#(note_\d+)">Next unresolved thread/g)].map(([, id]) => id),
    [second],
  );
  const id = /id="(resolve-\w+)"/.exec(html)![1]!;
  await browser.send(diffs, 'resolve', fieldsIn(html, id));
  assert.match(await shown(browser, diffs), /1 unresolved thread\./);
});

test('a comment side by side comes back side by side', async () => {
  const { browser, at } = await visit();
  const line = `${at}/diffs?view=parallel&at=1..1`;
  const html = await shown(browser, line);
  assert.match(html, /href="\?view=parallel&amp;at=1\.\.2#at-line"/);
  const form = /<form[^>]*action="([^"]*)"[^>]*id="thread"/.exec(html)![1]!.replaceAll('&amp;', '&');
  const placed = await browser.send(form, 'thread', { ...fieldsIn(html, 'thread'), body: 'Here.' });
  assert.match(placed.to!, /diffs\?view=parallel#note_\d+$/);
});

test('a merge request has approval rules of its own', async () => {
  const { here, browser, at } = await visit();
  const page = `${at}/approval_rules`;
  assert.match(await shown(browser, at), /href="[^"]*\/approval_rules"/);
  const fields = fieldsIn(await shown(browser, page), 'create_rule');
  const rule = { ...fields, name: 'Gardeners', approvals_required: '2', usernames: here.people.owner.username };
  assert.equal((await browser.send(page, 'create_rule', rule)).to, page);
  assert.match(
    await shown(browser, page),
    new RegExp(`Gardeners[\\s\\S]*2 needed[\\s\\S]*by @${here.people.owner.username}`),
  );
  const [{ id }] = await sent(
    here.as('maintainer').get(`/projects/${here.project.id}/merge_requests/1/approval_rules`),
  );
  const edited = fieldsIn(await shown(browser, `${page}?edit_rule=${id}`), `edit_rule-${id}`);
  assert.deepEqual([edited.name, edited.approvals_required], [['Gardeners'], ['2']]);
  await browser.send(page, 'edit_rule', { ...edited, approvals_required: '1' });
  const changed = await shown(browser, page);
  assert.match(changed, /1 needed/);
  await browser.send(page, 'remove_rule', fieldsIn(changed, `remove_rule-${id}`));
  assert.match(await shown(browser, page), /It has no rules of its own/);
});

test('a merge request waits for others, and shows the issues that it is about', async () => {
  const { here, browser, at } = await visit();
  await sent(
    here.as('maintainer').post(`/projects/${here.project.id}/repository/branches`, { branch: 'first', ref: 'topic' }),
  );
  const issue = await sent(here.as('developer').post(`/projects/${here.project.id}/issues`, { title: 'Moles' }));
  const other = await addMergeRequest(here, {
    source_branch: 'first',
    title: 'Dig first',
    description: `Closes #${issue.iid}`,
  });
  await settle(here);
  const page = `${at}/related`;
  for (const blocking_merge_request of ['!99', 'nowhere', ''])
    assert.equal((await browser.send(page, 'add_block', { blocking_merge_request })).status, 400);
  assert.equal((await browser.send(page, 'add_block', { blocking_merge_request: `!${other.iid}` })).to, page);
  const html = await shown(browser, page);
  assert.match(html, /Waits for[\s\S]*Dig first[\s\S]*Wait for it/);
  assert.match(
    await shown(browser, `${at.replace(/\d+$/, String(other.iid))}/related`),
    /Wait for it[\s\S]*Sow the beans/,
  );
  const id = /id="(remove_block-\d+)"/.exec(html)![1]!;
  await browser.send(page, 'remove_block', fieldsIn(html, id));
  assert.match(await shown(browser, page), /It waits for no other merge request/);
  const full = `${here.project.full_path}!${other.iid}`;
  assert.equal((await browser.send(page, 'add_block', { blocking_merge_request: full })).status, 303);
});

test('commits that it builds upon are named, and its pipelines are listed', async () => {
  const { here, browser, at } = await visit();
  const sha = (await headOf(here, 'main'))!;
  const commits = `${at}/commits`;
  assert.equal((await browser.send(commits, 'add_context', { commits: 'no commit' })).status, 400);
  assert.equal((await browser.send(commits, 'add_context', { commits: sha })).status, 303);
  const html = await shown(browser, commits);
  assert.match(html, new RegExp(`What it builds upon[\\s\\S]*${sha.slice(0, 8)}`));
  await browser.send(commits, 'remove_context', fieldsIn(html, `remove_context-${sha.slice(0, 8)}`));
  assert.match(await shown(browser, commits), /No commits of the target are named/);

  const head = await headOf(here, 'topic');
  await sent(here.as('maintainer').post(`/projects/${here.project.id}/statuses/${head}`, { state: 'success' }));
  assert.match(await shown(browser, `${at}/pipelines`), /Passed[\s\S]*Pipeline #1/);
});

test('a new merge request begins with two branches, its size, and the owners of its files', async () => {
  const { here, browser, at } = await visit();
  const page = at.replace(/\d+$/, 'new');
  await sent(
    here.as('owner').post(fileUrl(here.project, 'CODEOWNERS'), {
      ...onMain,
      content: `b.txt @${here.people.owner.username} @${here.people.maintainer.username}\n`,
    }),
  );
  const choiceIn = (html: string, name: string) =>
    new RegExp(`name="merge_request\\[${name}\\]">.*?<option value="([^"]*)" selected`).exec(html)?.[1];
  const html = await shown(browser, page);
  // The maintainer has pushed the branch last.
  assert.deepEqual([choiceIn(html, 'source_branch'), choiceIn(html, 'target_branch')], ['topic', 'main']);
  assert.match(html, /4 commits<\/a>, <a[^>]*>4 files<\/a> <span[^>]*><span class="good">\+7<\/span>/);
  assert.match(
    html,
    new RegExp(`Reviewers: owners of these files[\\s\\S]*?<option value="${here.people.owner.id}" selected`),
  );
  const fromMain = await shown(browser, `${page}?merge_request[source_branch]=main`);
  assert.deepEqual([choiceIn(fromMain, 'source_branch'), choiceIn(fromMain, 'target_branch')], ['main', 'topic']);
});
