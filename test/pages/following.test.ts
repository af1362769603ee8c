/** Whom people follow, and what owners and administrators see of people. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anonymousBrowser, browserOf, fillIn } from '../support/browser.ts';
import { sent } from '../support/sent.ts';
import { world } from '../support/world.ts';

test('people are followed on their page, which lists what they star and work on', async () => {
  const here = await world();
  const { as, project, people } = here;
  const path = `/${people.owner.username}`;
  const browser = await browserOf(here, people.developer);
  assert.match((await browser.get(`${path}?tab=followers`)).html, /Nobody follows them\./);
  assert.equal((await fillIn(browser, path, 'follow', {})).to, path);
  const { html } = await browser.get(`${path}?tab=followers`);
  assert.ok(html.includes(`@${people.developer.username}</span>`) && html.includes('>Unfollow</button>'));
  assert.ok(
    (await browser.get(`/${people.developer.username}?tab=following`)).html.includes(`@${people.owner.username}<`),
  );
  await sent(as('owner').post(`/projects/${project.id}/star`));
  await sent(as('owner').post(`/projects/${project.id}/issues`, { title: 'Prune' }));
  for (const tab of ['starred', 'contributed'])
    assert.ok((await browser.get(`${path}?tab=${tab}`)).html.includes(`href="/${project.full_path}"`), tab);
  await fillIn(browser, path, 'unfollow', {});
  assert.deepEqual((await as('developer').get(`/users/${people.owner.id}/followers`)).body, []);
  // Strangers see the projects only.
  const stranger = await anonymousBrowser(here.url).get(`${path}?tab=followers`);
  assert.ok(!stranger.html.includes('Followers</a>'));
});

test('owners see why somebody takes a seat, and administrators all deploy tokens', async () => {
  const here = await world();
  const { as, group, project, people } = here;
  const seats = `/groups/${group.full_path}/-/settings/seats`;
  const owner = await browserOf(here, people.owner);
  assert.ok((await owner.get(seats)).html.includes(`href="${seats}/${people.developer.id}"`));
  const { html } = await owner.get(`${seats}/${people.developer.id}`);
  assert.match(html, /Member of[\s\S]*Developer/);
  await sent(
    as('owner').post(`/projects/${project.id}/deploy_tokens`, { name: 'shed door', scopes: ['read_repository'] }),
  );
  const admin = await browserOf(here, people.admin);
  assert.match((await admin.get('/admin/deploy_tokens')).html, /<strong>shed door<\/strong>/);
  assert.match((await admin.get('/admin/geo/sites')).html, /Nothing has failed here\./);
  const made = await fillIn(admin, `/admin/users/${people.guest.id}`, 'project', { name: 'Own trees' });
  assert.equal(made.to, `/${people.guest.username}/own-trees`);
  const careful = `/${people.guest.username}/own-trees/-/settings/careful`;
  await fillIn(admin, careful, 'fork_of', { forked_from_id: project.full_path });
  const { body } = await as('admin').get(`/projects/${encodeURIComponent(`${people.guest.username}/own-trees`)}`);
  assert.equal(body.forked_from_project.id, project.id);
});
