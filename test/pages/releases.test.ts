/** The pages of releases, and the ways to them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf, fillIn } from '../support/browser.ts';
import { formsIn, sentBy } from '../support/html_tree.ts';
import { filledWorld } from '../support/repository.ts';
import { sent } from '../support/sent.ts';
import type { World } from '../support/world.ts';

const link = { name: 'Program', url: 'https://example.com/pick', direct_asset_path: '/bin/pick', link_type: 'package' };

const release = ({ as, project }: World) =>
  sent(
    as('developer').post(`/projects/${project.id}/releases`, {
      ...{ tag_name: 'v1', ref: 'main', name: 'First harvest', description: '## News\n\nRipe *apples*.' },
      assets: { links: [link] },
    }),
  );

test('a release is shown with its text, assets and evidence', async () => {
  const here = await filledWorld();
  await release(here);
  const address = `/${here.project.full_path}/-/releases`;
  const browser = await browserOf(here, here.people.reporter);
  const { html: list } = await browser.get(address);
  assert.ok(list.includes(`href="${address}/v1"`) && list.includes('5 assets'));
  assert.ok(list.includes(`<a href="${address}" aria-current="page">Releases</a>`));
  const { html: one } = await browser.get(`${address}/v1`);
  assert.match(one, /<h3[^>]*>News<\/h3>/);
  for (const text of ['Ripe <em>apples</em>.', 'Source code (zip)', 'SHA-256'])
    assert.ok(one.includes(text), `${text} in ${one}`);
  assert.ok(one.includes(`href="${address}/v1/downloads/bin/pick"`));
  assert.ok(one.includes(`href="/${here.project.full_path}/-/tags/v1"`));
});

test('those who may not read the code see no tag of a release', async () => {
  const here = await filledWorld();
  await release(here);
  const browser = await browserOf(here, here.people.guest);
  const { html } = await browser.get(`/${here.project.full_path}/-/releases`);
  assert.ok(html.includes('First harvest') && !/\bv1\b/.test(html.replaceAll(/<svg[\s\S]*?<\/svg>/g, '')));
});

test('a release is made of what was merged since the last one, changed, and deleted', async () => {
  const here = await filledWorld();
  const { as, project, people } = here;
  await release(here);
  const commit = { branch: 'pears', start_branch: 'main', commit_message: 'Plant pears' };
  const actions = [{ action: 'create', file_path: 'pears.txt', content: 'Conference' }];
  await sent(as('maintainer').post(`/projects/${project.id}/repository/commits`, { ...commit, actions }));
  const asked = { source_branch: 'pears', target_branch: 'main', title: 'Plant pears' };
  const { iid } = await sent(as('maintainer').post(`/projects/${project.id}/merge_requests`, asked));
  await sent(as('maintainer').put(`/projects/${project.id}/merge_requests/${iid}/merge`));
  await sent(as('maintainer').post(`/projects/${project.id}/milestones`, { title: 'Autumn' }));
  const address = `/${project.full_path}/-/releases`;
  const browser = await browserOf(here, people.developer);
  assert.ok((await browser.get(address)).html.includes(`href="${address}/new"`));
  const { tag_name, ref, description } = sentBy(formsIn((await browser.get(`${address}/new`)).html).at(-1)!);
  assert.deepEqual([tag_name, ref, description], [['v2'], ['main'], [`- Plant pears (!${iid})`]]);
  const made = await fillIn(browser, `${address}/new`, 'release', { name: 'Pears', 'milestones[]': 'Autumn' });
  assert.equal(made.to, `${address}/v2`);
  const own = async () => (await as('developer').get(`/projects/${project.id}/releases/v2`)).body;
  assert.deepEqual(
    [(await own()).name, (await own()).milestones[0].title, (await own()).evidences.length],
    ['Pears', 'Autumn', 1],
  );
  const { html } = await browser.get(made.to!);
  assert.ok(html.includes(`href="${address}/v2/edit"`));
  await browser.send(made.to!, 'collect');
  assert.equal((await own()).evidences.length, 2);

  const edit = `${address}/v2/edit`;
  const added = { name: 'Crate', url: 'https://example.com/crate', direct_asset_path: '/crate', link_type: 'image' };
  assert.equal((await fillIn(browser, edit, 'create_link', added)).to, `${edit}?done=create_link`);
  assert.equal((await own()).assets.links[0].link_type, 'image');
  const before = (await own()).released_at;
  const saved = await fillIn(browser, edit, 'release', { name: 'All pears', description: 'Ripe' });
  assert.equal(saved.to, `${address}/v2`);
  const changed = await own();
  assert.deepEqual([changed.name, changed.description, changed.milestones.length], ['All pears', 'Ripe', 1]);
  assert.equal(changed.released_at.slice(0, 19), before.slice(0, 19));
  const none = sentBy(formsIn((await browser.get(edit)).html).find(({ id }) => id === 'release')!);
  delete none['milestones[]'];
  await browser.send(edit, 'release', none);
  assert.equal((await own()).milestones, undefined);
  assert.equal((await browser.send(edit, 'remove')).to, address);
  assert.equal((await as('developer').get(`/projects/${project.id}/releases/v2`)).status, 404);
  const { html: group } = await browser.get(`/groups/${here.group.full_path}/-/releases`);
  assert.ok(group.includes('First harvest') && group.includes(`${address}/v1`));
  const reader = await browserOf(here, people.reporter);
  assert.equal((await reader.get(`${address}/new`)).status, 403);
  assert.ok(!(await reader.get(`${address}/v1`)).html.includes('/edit"'));
});

test('the search of a page of a project looks in the project, and says so', async () => {
  const here = await filledWorld();
  const { full_path } = here.project;
  const browser = await browserOf(here, here.people.reporter);
  const { html: home } = await browser.get(`/${full_path}`);
  const { project_id } = sentBy(formsIn(home).find(({ action }) => action === '/search')!);
  const search = `/search?project_id=${encodeURIComponent(String(project_id))}`;
  const { html: found } = await browser.get(`${search}&search=apples&scope=issues`);
  assert.ok(found.includes(`href="/${full_path}"`));
  assert.ok(found.includes('<a href="/search?search=apples&amp;scope=issues">Search everything</a>'));
  const stranger = await browserOf(here, here.people.outsider);
  assert.equal((await stranger.get(search)).status, 404);
});
