/** The badges of pipelines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anonymousBrowser, browserOf } from '../support/browser.ts';
import { filledWorld } from '../support/repository.ts';
import { sent } from '../support/sent.ts';

test('badges say how the newest pipeline of a branch has ended, to those who may read pipelines', async () => {
  const here = await filledWorld();
  const { as, project, people, url } = here;
  const address = `/${project.full_path}/-/badges`;
  const reader = await browserOf(here, people.reporter);
  const none = await reader.get(`${address}/main/pipeline.svg`);
  assert.deepEqual([none.status, none.headers.get('content-type')], [200, 'image/svg+xml; charset=utf-8']);
  assert.match(none.html, /^<svg [^>]*aria-label="pipeline: unknown"/);
  const branch = { branch: 'topic/a', ref: 'main' };
  await sent(as('maintainer').post(`/projects/${project.id}/repository/branches`, branch));
  const status = { state: 'success', ref: 'topic/a', coverage: 81.5 };
  await sent(as('developer').post(`/projects/${project.id}/statuses/topic%2Fa`, status));
  assert.match((await reader.get(`${address}/topic/a/pipeline.svg`)).html, /aria-label="pipeline: passed"/);
  assert.match((await reader.get(`${address}/topic/a/coverage.svg`)).html, /aria-label="coverage: 81\.50%"/);
  const older = await reader.get(`/${project.full_path}/badges/topic/a/pipeline.svg?key_text=x`);
  assert.deepEqual([older.status, older.to], [302, `${address}/topic/a/pipeline.svg?key_text=x`]);
  const stranger = await browserOf(here, people.outsider);
  assert.equal((await stranger.get(`${address}/main/pipeline.svg`)).status, 404);
  assert.notEqual((await anonymousBrowser(url).get(`${address}/main/pipeline.svg`)).status, 200);

  await sent(as('owner').put(`/projects/${project.id}`, { path: `${project.path}-now` }));
  const moved = await reader.get(`${address}/main/pipeline.svg`);
  assert.deepEqual([moved.status, moved.to], [301, `/${project.full_path}-now/-/badges/main/pipeline.svg`]);
  // A path can be encoded in more than one way.
  const first = project.full_path.codePointAt(0)!.toString(16);
  const encoded = `/%${first}${project.full_path.slice(1)}`;
  const odd = await reader.get(`${encoded}/-/badges/main/pipeline.svg?key_text=%2d`);
  assert.deepEqual([odd.status, odd.to], [301, `/${project.full_path}-now/-/badges/main/pipeline.svg?key_text=%2d`]);
});

test('the page of a project shows its badges, and pictures of this server alone', async () => {
  const here = await filledWorld();
  const { as, project, group, people } = here;
  const at = `/${project.full_path}`;
  const add = (owner: string, badge: Record<string, string>) => sent(as('owner').post(`${owner}/badges`, badge));
  const own = `/projects/${project.id}`;
  const link_url = 'https://ci.example/%{project_path}?ref=%{default_branch}';
  const picture = `${at}/-/badges/main/pipeline.svg`;
  await add(own, { name: 'pipeline', link_url, image_url: `http://coppice.test${picture}` });
  await add(own, { link_url: 'https://docs.example/', image_url: 'https://pictures.example/docs.svg' });
  await add(`/groups/${group.id}`, { name: '<b>"Plan', link_url: 'https://plan.example/', image_url: 'https://a.b/c' });
  const { html } = await (await browserOf(here, people.reporter)).get(at);
  const shown = [
    '<a href="https://plan.example/" rel="nofollow">&lt;b&gt;&quot;Plan</a>',
    `<a href="https://ci.example${at}?ref=main" rel="nofollow"><img src="${picture}" alt="pipeline"></a>`,
    '<a href="https://docs.example/" rel="nofollow">https://docs.example/</a>',
  ];
  assert.ok(html.includes(`<p class="actions">${shown.join('')}</p>`));
  assert.doesNotMatch(html, /pictures\.example/);
});
