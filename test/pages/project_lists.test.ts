/** What a project has around its files: forks, stars, what happened, and pictures of its history. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copyFork } from '../../src/areas/spaces/projects/index.ts';
import { browserOf, fieldsIn } from '../support/browser.ts';
import { performQueued } from '../support/jobs.ts';
import { addMergeRequest, worldWithTopic } from '../support/merge_requests.ts';
import { filledWorld } from '../support/repository.ts';
import { sent } from '../support/sent.ts';

test('a project is forked by a form, and its forks are listed', async () => {
  const here = await filledWorld();
  const at = `/${here.project.full_path}`;
  const browser = await browserOf(here, here.people.developer);
  assert.match((await browser.get(`${at}/-/forks`)).html, /There are no forks that you may see/);
  const fields = fieldsIn((await browser.get(`${at}/-/forks/new`)).html, 'fork');
  const { username } = here.people.developer;
  const taken = await browser.send(`${at}/-/forks/new`, 'fork', { ...fields, path: 'a b' });
  assert.equal(taken.status, 409);
  const form = { ...fields, name: 'My fork', path: 'own' };
  assert.equal((await browser.send(`${at}/-/forks/new`, 'fork', form)).to, `/${username}/own`);
  await performQueued(here.services, [copyFork]);
  assert.match((await browser.get(`${at}/-/forks`)).html, new RegExp(`href="/${username}/own">[^<]*My fork`));
  assert.match((await browser.get(at)).html, />1 fork</);
});

test('the people who starred a project are listed, and what happened in it', async () => {
  const here = await worldWithTopic();
  const at = `/${here.project.full_path}`;
  const browser = await browserOf(here, here.people.developer);
  await browser.send(at, 'star');
  const { iid } = await addMergeRequest(here, { title: 'Prune & graft' });
  await sent(here.as('developer').post(`/projects/${here.project.id}/merge_requests/${iid}/notes`, { body: 'Why?' }));
  assert.match((await browser.get(`${at}/-/starrers`)).html, new RegExp(`href="/${here.people.developer.username}"`));
  const { html } = await browser.get(`${at}/-/activity`);
  assert.match(
    html,
    new RegExp(`opened merge request <a href="${at}/-/merge_requests/${iid}">!${iid} Prune &amp; graft</a>`),
  );
  assert.match(html, new RegExp(`commented on <a href="${at}/-/merge_requests/${iid}#note_\\d+">`));
});

test('the network shows commits with their branches, and the contributors are counted', async () => {
  const here = await worldWithTopic();
  const at = `/${here.project.full_path}/-`;
  const browser = await browserOf(here, here.people.developer);
  const commits = async (query = '') => {
    const { html } = await browser.get(`${at}/network/main${query}`);
    assert.equal(
      (html.match(/<circle class="lane\d"/g) ?? []).length,
      (html.match(/<li><a href="[^"]*\/commit\//g) ?? []).length,
    );
    return html;
  };
  const main = await commits();
  const all = await commits('?all=true');
  assert.ok(all.length > main.length);
  assert.match(all, /<span class="chip">topic<\/span>/);
  assert.doesNotMatch(main, /<span class="chip">topic<\/span>/);
  const { html } = await browser.get(`${at}/graphs/main`);
  assert.match(html, /<rect width="100%"/);
  assert.match(html, /\d+ commits?</);
});
