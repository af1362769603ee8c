import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  concludeMerges,
  followMergeRequests,
  prepareMergeRequest,
  readClosedIssues,
} from '../../src/areas/work/merge_requests/index.ts';
import { type Browser, browserOf, fieldsIn } from '../support/browser.ts';
import { addIssue } from '../support/issues.ts';
import { performQueued } from '../support/jobs.ts';
import { addBranch, addFork, addMergeRequest } from '../support/merge_requests.ts';
import { cloneFor } from '../support/pushing.ts';
import { filledWorld } from '../support/repository.ts';
import type { World } from '../support/world.ts';

const hostile = '"><script>alert(1)</script>';

let known: Promise<{ here: World; browser: Browser; base: string }> | undefined;
/** One world for all tests of the file, in which a developer has signed in. */
const visit = () =>
  (known ??= (async () => {
    const here = await filledWorld();
    const browser = await browserOf(here, here.people.developer);
    return { here, browser, base: `/${here.project.full_path}/-/merge_requests` };
  })());

/** Does what follows a push, a new merge request and a merge. */
const settle = (here: World) =>
  performQueued(here.services, [followMergeRequests, prepareMergeRequest, readClosedIssues, concludeMerges]);

test('a push leads by the printed link to a merge request, its review, its merge and a closed issue', async () => {
  const { here, browser } = await visit();
  const { iid } = await addIssue(here, { title: 'Beans are missing' });
  const clone = await cloneFor(here, 'developer');
  await clone.begin('sow-the-beans');
  await clone.commit({
    message: `Sow beans ${hostile}\n\nCloses #${iid}`,
    file: 'beans.txt',
    content: `beans\n${hostile}\n`,
  });
  const { stderr } = await clone.push('http', 'sow-the-beans');
  const link = /http:\/\/coppice\.test(\S*\/merge_requests\/new\S*)/.exec(stderr)?.[1];
  assert.ok(link, stderr);

  const offered = await browser.get(link);
  assert.equal(offered.status, 200);
  const fields = fieldsIn(offered.html, 'create');
  assert.deepEqual([fields.title, fields.description], [[`Sow beans ${hostile}`], [`Closes #${iid}`]]);
  assert.match(offered.html, /Changes<\/h2>[\s\S]*beans\.txt[\s\S]*<tr class="added"><td><td>1<td>beans/);
  const refused = await browser.send(link, 'create', { ...fields, title: '', description: 'Kept' });
  assert.equal(refused.status, 400);
  assert.deepEqual(fieldsIn(refused.html, 'create').description, ['Kept']);
  assert.match(refused.html, /id="create-title-reason"/);
  const { status, to } = await browser.send(link, 'create', fields);
  assert.equal(status, 303);
  const page = to!;
  await settle(here);

  const reviewer = await browserOf(here, here.people.maintainer);
  const diffs = (await reviewer.get(`${page}/diffs`)).html;
  assert.ok(diffs.includes('beans.txt') && !diffs.includes('<script>alert'));
  const line = `${page}/diffs${/href="(\?at=\d+\.\d*\.2)#at-line"/.exec(diffs)![1]}`;
  const comment = fieldsIn((await reviewer.get(line)).html, 'thread');
  const placed = await reviewer.send(line, 'thread', { ...comment, body: 'Why so?' });
  assert.equal(placed.status, 303);
  const changes = (await reviewer.get(`${page}/diffs`)).html;
  // Below its line.
  assert.match(changes, /script&gt;\n<tr class="said"><td colspan="3"><div class="thread">\s*<article[\s\S]*Why so\?/);
  assert.ok(changes.includes(placed.to!.split('#')[1]!));

  const approval = fieldsIn((await reviewer.get(page)).html, 'approve');
  assert.equal((await reviewer.send(page, 'approve', approval)).status, 303);
  const approved = (await reviewer.get(page)).html;
  assert.match(approved, /Approved by <a[^>]*>(?:<span[^>]*><\/span>)maintainer/);
  assert.match(approved, /It can be merged\./);
  assert.match(approved, /Issues that it closes[\s\S]*Beans are missing/);

  const wish = fieldsIn(approved, 'merge');
  assert.equal((await reviewer.send(page, 'merge', { ...wish, sha: '0'.repeat(40) })).status, 409);
  assert.equal((await reviewer.send(page, 'merge', wish)).status, 303);
  await settle(here);
  assert.match((await reviewer.get(page)).html, /Merged by/);
  assert.match((await browser.get(`/${here.project.full_path}/-/issues/${iid}`)).html, /class="state done"/);
  assert.match((await browser.get(`${page}/commits`)).html, /Sow beans/);
  const late = await reviewer.send(page, 'merge', wish);
  assert.equal(late.status, 405);
  assert.match(late.html, /role="alert"/);
});

test('a list shows merge requests by state and filter', async () => {
  const { here, browser, base } = await visit();
  await addBranch(here, 'listed');
  await addMergeRequest(here, {
    title: `Draft: Listed ${hostile}`,
    source_branch: 'listed',
    reviewer_ids: [here.people.maintainer.id],
  });
  const { html } = await browser.get(base);
  assert.ok(html.includes('Draft: Listed') && !html.includes('<script>alert'));
  assert.match(
    (await browser.get(`${base}?reviewer_username=${here.people.maintainer.username}&draft=true`)).html,
    /Listed/,
  );
  assert.doesNotMatch((await browser.get(`${base}?draft=false`)).html, /Listed/);
  assert.doesNotMatch((await browser.get(`${base}?state=closed`)).html, /Listed/);
});

test('a draft says so, is marked as ready, edited and closed', async () => {
  const { here, browser, base } = await visit();
  await addBranch(here, 'drafted');
  const { iid } = await addMergeRequest(here, { title: 'Draft: Drafted', source_branch: 'drafted' });
  await settle(here);
  const page = `${base}/${iid}`;
  const draft = (await browser.get(page)).html;
  assert.match(draft, /It is a draft\./);
  assert.equal((await browser.send(page, 'ready', fieldsIn(draft, 'ready'))).status, 303);
  const present = fieldsIn((await browser.get(`${page}/edit`)).html, 'change');
  assert.deepEqual(present.title, ['Drafted']);
  const edited = {
    ...present,
    'reviewer_ids[]': [String(here.people.maintainer.id)],
    description: hostile,
  };
  assert.equal((await browser.send(`${page}/edit`, 'change', edited)).to, page);
  const { html } = await browser.get(page);
  assert.match(html, /Reviewers<a.*?<\/dt><dd><a[^>]*>(?:<span[^>]*><\/span>)maintainer/);
  assert.doesNotMatch(html, /<script>alert/);
  await browser.send(page, 'close');
  assert.match((await browser.get(page)).html, /It is not open\./);
});

test('threads are resolved and opened again', async () => {
  const { here, browser, base } = await visit();
  await addBranch(here, 'threads');
  const { iid } = await addMergeRequest(here, { title: 'Threads', source_branch: 'threads' });
  const page = `${base}/${iid}`;
  await browser.send(page, 'thread', { body: 'Is this right?' });
  const { html } = await browser.get(page);
  const id = /id="(resolve-\w+)"/.exec(html)![1]!;
  assert.equal((await browser.send(page, 'resolve', fieldsIn(html, id))).status, 303);
  assert.match((await browser.get(page)).html, /This thread is resolved\./);
});

test('versions are chosen, and compared with each other', async () => {
  const { here, browser, base } = await visit();
  await addBranch(here, 'versions');
  const { iid } = await addMergeRequest(here, { title: 'Versions', source_branch: 'versions' });
  await settle(here);
  await here.as('maintainer').post(`/projects/${here.project.id}/repository/files/second.txt`, {
    branch: 'versions',
    commit_message: 'Second',
    content: 'second\n',
  });
  await settle(here);
  const { body: versions } = await here
    .as('developer')
    .get(`/projects/${here.project.id}/merge_requests/${iid}/versions`);
  assert.equal(versions.length, 2);
  const diffs = `${base}/${iid}/diffs`;
  const older = (await browser.get(`${diffs}?diff_id=${versions[1].id}`)).html;
  assert.ok(older.includes('versions.txt') && !older.includes('second.txt'));
  const between = (await browser.get(`${diffs}?diff_id=${versions[0].id}&start_sha=${versions[1].head_commit_sha}`))
    .html;
  assert.ok(!between.includes('<h3>versions.txt') && between.includes('second.txt'));
  const text = await browser.get(`${base}/${iid}.diff`);
  assert.match(text.headers.get('content-type')!, /^text\/plain/);
  assert.match(text.html, /^diff --git/);
});

test('a review is written comment by comment, published as one, and its suggestion applied', async () => {
  const { here, browser, base } = await visit();
  await addBranch(here, 'reviewed');
  const { iid } = await addMergeRequest(here, {
    source_branch: 'reviewed',
    reviewer_ids: [here.people.maintainer.id],
  });
  await settle(here);
  const page = `${base}/${iid}`;
  const reviewer = await browserOf(here, here.people.maintainer);
  const line = `${page}/diffs?at=1..1&suggest=1`;
  const offered = fieldsIn((await reviewer.get(line)).html, 'thread');
  const [suggestion] = offered.body!;
  assert.match(suggestion!, /^```suggestion\n.+\n```\n$/);
  const body = `Clearer so:\n\n\`\`\`suggestion\nclearer\n\`\`\`\n`;
  const kept = await reviewer.send(`${page}/diffs?at=1..1`, 'draft', { ...offered, body });
  assert.deepEqual([kept.status, kept.to], [303, `${page}/diffs`]);
  assert.match((await reviewer.get(`${page}/diffs`)).html, /class="note pending"[\s\S]*Clearer so/);
  assert.doesNotMatch((await browser.get(`${page}/diffs`)).html, /Clearer so/);

  const { html } = await reviewer.get(page);
  const draft = fieldsIn(html, /id="(edit_draft-\d+)"/.exec(html)![1]!);
  assert.equal((await reviewer.send(page, 'edit_draft', { ...draft, body: `${body}\nPlease.` })).status, 303);
  const finished = { ...fieldsIn((await reviewer.get(page)).html, 'publish'), body: 'One thing.' };
  const published = await reviewer.send(page, 'publish', { ...finished, reviewer_state: 'requested_changes' });
  assert.equal(published.to, page);
  const { body: reviewers } = await here
    .as('owner')
    .get(`/projects/${here.project.id}/merge_requests/${iid}/reviewers`);
  assert.deepEqual(
    reviewers.map(({ state }: { state: string }) => state),
    ['requested_changes'],
  );

  const shown = (await browser.get(page)).html;
  for (const text of ['One thing.', 'Clearer so:', 'Please.', '<ins>clearer\n</ins>'])
    assert.ok(shown.includes(text), text);
  assert.doesNotMatch(shown, /Your review|suggestion<\/code>/);
  const id = /id="apply-(\d+)"/.exec(shown)![1]!;
  assert.equal((await browser.send(page, 'apply', fieldsIn(shown, `apply-${id}`))).status, 303);
  assert.match((await browser.get(page)).html, /Applied/);
  const file = await here
    .as('owner')
    .get(`/projects/${here.project.id}/repository/files/reviewed.txt/raw?ref=reviewed`);
  assert.equal(String(file.body), 'clearer\n');
});

test('what a fork changes is offered to the project that it was made from', async () => {
  const { here } = await visit();
  const { id } = await addFork(here, 'developer', here.project, { path: 'forked' });
  await addBranch(here, 'forked-topic', { id }, 'developer');
  const browser = await browserOf(here, here.people.developer);
  const { body: fork } = await here.as('developer').get(`/projects/${id}`);
  const address = `/${fork.path_with_namespace}/-/merge_requests/new?merge_request[source_branch]=forked-topic`;
  const { html } = await browser.get(address);
  assert.match(html, new RegExp(`Target branch in ${here.project.full_path}`));
  const { to } = await browser.send(address, 'create', fieldsIn(html, 'create'));
  assert.match(to!, new RegExp(`^/${here.project.full_path}/-/merge_requests/\\d+$`));
  const own = (await browser.get(`${address}&merge_request[target_project_id]=${id}`)).html;
  assert.match(own, new RegExp(`Target branch in ${fork.path_with_namespace}`));
});

test('hidden and missing merge requests look the same', async () => {
  const { here, base } = await visit();
  const outsider = await browserOf(here, here.people.outsider);
  const [hidden, missing, fresh] = await Promise.all(
    [`${base}/1`, `${base}/999`, `${base}/new`].map((page) => outsider.get(page)),
  );
  assert.deepEqual([hidden!.status, missing!.html, fresh!.html], [404, hidden!.html, hidden!.html]);
});
