/** The pages of releases, and the ways to them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../support/browser.ts';
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
