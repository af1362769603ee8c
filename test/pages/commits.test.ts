/** What is done with commits and branches on pages: comments on lines, cherry-picking, reverting, proposing what was pushed, deleting what is merged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Browser, browserOf, fieldsIn } from '../support/browser.ts';
import { addBranch, addMergeRequest, worldWithTopic } from '../support/merge_requests.ts';
import { fileUrl, headOf, onMain } from '../support/repository.ts';
import { sent } from '../support/sent.ts';
import type { World } from '../support/world.ts';

let known: Promise<{ here: World; browser: Browser; at: string }> | undefined;
/** One world for all tests of the file, in which a developer has signed in. `main` is protected. */
const visit = () =>
  (known ??= (async () => {
    const here = await worldWithTopic();
    const { as, project } = here;
    await sent(as('owner').post(`/projects/${project.id}/protected_branches`, { name: 'release' }));
    return { here, browser: await browserOf(here, here.people.developer), at: `/${project.full_path}` };
  })());

async function shown(browser: Browser, path: string): Promise<string> {
  const { status, html } = await browser.get(path);
  assert.equal(status, 200, path);
  return html;
}

test('a line of a commit is commented on, also of the first one, and side by side', async () => {
  const { here, browser, at } = await visit();
  const commits = await sent(here.as('developer').get(`/projects/${here.project.id}/repository/commits?ref_name=main`));
  const page = `${at}/-/commit/${commits.at(-1).id}`;
  const html = await shown(browser, `${page}?view=parallel`);
  const link = /href="(\?view=parallel&amp;at=1\.\.2)#at-line"/.exec(html)?.[1]?.replace('&amp;', '&');
  assert.ok(link, html);
  const placed = await browser.send(page + link, 'line', {
    ...fieldsIn(await shown(browser, page + link), 'line'),
    body: 'Two of *what*?',
  });
  assert.equal(placed.status, 303);
  assert.match(placed.to!, /\?view=parallel#note_\d+$/);
  const comments = await shown(browser, `${page}?view=parallel`);
  assert.match(comments, /two\n<tr class="said"><td colspan="4"><div class="thread">[\s\S]*Two of <em>what/);
  assert.match(comments, /id="comments">0 comments|id="comments">1 comment</);
  const [comment] = await sent(
    here.as('developer').get(`/projects/${here.project.id}/repository/commits/${commits.at(-1).id}/comments`),
  );
  assert.deepEqual([comment.path, comment.line, comment.line_type], ['README.md', 2, 'new']);
});

test('a commit is cherry-picked onto a branch, and reverted on a new one that is proposed', async () => {
  const { here, browser, at } = await visit();
  const sha = (await headOf(here, 'topic'))!;
  const short = sha.slice(0, 8);
  await sent(
    here.as('maintainer').post(`/projects/${here.project.id}/repository/branches`, { branch: 'winter', ref: 'main' }),
  );
  const commit = await shown(browser, `${at}/-/commit/${sha}`);
  const [pick, revert] = [`${at}/-/commit/${sha}/cherry_pick`, `${at}/-/commit/${sha}/revert`];
  for (const address of [pick, revert]) assert.ok(commit.includes(`href="${address}"`), address);

  const fields = fieldsIn(await shown(browser, pick), 'pick');
  assert.deepEqual([fields.branch, fields.new_branch], [['main'], [`cherry-pick-${short}`]]);
  const picked = await browser.send(pick, 'pick', { ...fields, branch: 'winter', merge_request: 'false' });
  assert.equal(picked.to, `${at}/-/commit/${await headOf(here, 'winter')}`);
  assert.match(await shown(browser, picked.to!), /cherry picked from commit/);
  const again = await browser.send(pick, 'pick', { ...fields, branch: 'winter', merge_request: 'true' });
  assert.equal(again.status, 400);
  assert.match(again.html, /may already have been cherry-picked/);
  // What was begun for it is gone.
  assert.equal(await headOf(here, `cherry-pick-${short}`), undefined);

  const proposed = await browser.send(revert, 'pick', {
    ...fieldsIn(await shown(browser, revert), 'pick'),
    branch: 'winter',
    merge_request: 'true',
  });
  assert.equal(proposed.status, 303, proposed.html);
  const offered = fieldsIn(await shown(browser, proposed.to!), 'create');
  assert.deepEqual([offered.source_branch, offered.target_branch], [[`revert-${short}`], ['winter']]);
  assert.match(offered.title![0]!, /^Revert "/);

  await sent(
    here.as('maintainer').post(`/projects/${here.project.id}/repository/branches`, { branch: 'release', ref: 'main' }),
  );
  const refused = await browser.send(pick, 'pick', { ...fields, branch: 'release', merge_request: 'false' });
  assert.equal(refused.status, 403);
  assert.match(refused.html, /not allowed to push into this branch/);
  const guest = await browserOf(here, here.people.reporter);
  assert.match(await shown(guest, pick), /You may not add commits/);
});

test('what somebody has just pushed is offered as a merge request, to them alone, until there is one', async () => {
  const { here, at } = await visit();
  await addBranch(here, 'pushed-now', here.project, 'developer');
  const { browser } = await visit();
  const offer = /You pushed <a href="[^"]*">pushed-now<\/a>[\s\S]*?href="([^"]*merge_requests\/new[^"]*)"/;
  const link = offer.exec(await shown(browser, at))?.[1];
  assert.ok(link);
  assert.deepEqual(fieldsIn(await shown(browser, link), 'create').source_branch, ['pushed-now']);
  const other = await browserOf(here, here.people.maintainer);
  assert.doesNotMatch(await shown(other, at), offer);
  const { iid } = await addMergeRequest(here, { source_branch: 'pushed-now' });
  assert.doesNotMatch(await shown(browser, at), offer);
  // A closed one, with the same head, was decided.
  await sent(here.as('developer').put(`/projects/${here.project.id}/merge_requests/${iid}`, { state_event: 'close' }));
  assert.doesNotMatch(await shown(browser, at), offer);
  await sent(
    here
      .as('developer')
      .put(fileUrl(here.project, 'README.md'), { ...onMain, branch: 'pushed-now', content: 'more\n' }),
  );
  assert.match(await shown(browser, at), offer);
  await sent(here.as('developer').delete(`/projects/${here.project.id}/repository/branches/pushed-now`));
  assert.doesNotMatch(await shown(browser, at), offer);
});

test('a project shows its languages, and outsiders ask for access', async () => {
  const { here, browser, at } = await visit();
  for (const [file, content] of [
    ['a.ts', 'let a = 1;\n'],
    ['b.css', 'a{}\n'],
  ] as const)
    await sent(here.as('maintainer').post(fileUrl(here.project, file), { ...onMain, content }));
  // The page waits a moment only for a count that is not known yet.
  await sent(here.as('developer').get(`/projects/${here.project.id}/languages`));
  assert.match(await shown(browser, at), /Languages<\/h3>[\s\S]*TypeScript 73\.3 %[\s\S]*CSS 26\.7 %/);
  assert.doesNotMatch(await shown(browser, at), /Request access/);

  const { as, project, group, people } = here;
  await sent(as('owner').put(`/groups/${group.id}`, { visibility: 'public' }));
  await sent(as('owner').put(`/projects/${project.id}`, { visibility: 'public', request_access_enabled: true }));
  const outsider = await browserOf(here, people.outsider);
  assert.match(await shown(outsider, at), /Request access/);
  const asked = await outsider.send(at, 'request_access');
  assert.equal(asked.to, `${at}?requested=1`);
  assert.match(await shown(outsider, asked.to!), /You have asked for access/);
  const requests = await sent(as('owner').get(`/projects/${project.id}/access_requests`));
  assert.deepEqual(
    requests.map(({ username }: { username: string }) => username),
    [people.outsider.username],
  );
});

test('merged branches are deleted at once, except for protected ones', async () => {
  const { here, browser, at } = await visit();
  const { as, project } = here;
  for (const branch of ['done', 'release-done'])
    await sent(as('maintainer').post(`/projects/${project.id}/repository/branches`, { branch, ref: 'main' }));
  await sent(as('owner').post(`/projects/${project.id}/protected_branches`, { name: 'release-*' }));
  await sent(as('maintainer').put(fileUrl(project, 'README.md'), { ...onMain, content: 'further\n' }));
  const branches = `${at}/-/branches`;
  assert.match(await shown(browser, branches), /Delete all merged branches/);
  assert.equal((await browser.send(branches, 'remove_merged')).status, 303);
  assert.deepEqual(
    [
      await headOf(here, 'done'),
      (await headOf(here, 'release-done')) !== undefined,
      (await headOf(here, 'topic')) !== undefined,
    ],
    [undefined, true, true],
  );
});
