/** The pages of runners. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Browser, browserOf } from '../support/browser.ts';
import { formsIn, sentBy } from '../support/html_tree.ts';
import { sent } from '../support/sent.ts';
import { world } from '../support/world.ts';

/** Sends the first form of a page that does something, with some of it changed. */
async function filledIn(browser: Browser, path: string, does: string, changes: Record<string, string> = {}) {
  const form = formsIn((await browser.get(path)).html).find((each) => each.does.includes(does))!;
  return browser.send(form.action, does, { ...sentBy(form), ...changes });
}

test('a Maintainer makes a runner, whose token is shown once with the commands, pauses, edits and deletes it', async () => {
  const here = await world();
  const { as, project, group } = here;
  const browser = await browserOf(here, here.people.maintainer);
  const path = `/${project.full_path}/-/runners`;
  await sent(as('owner').post('/user/runners', { runner_type: 'group_type', group_id: group.id, description: 'Barn' }));
  const made = await filledIn(browser, path, 'create_runner', { description: 'Press', tag_list: 'linux, press' });
  assert.deepEqual([made.status, made.headers.get('cache-control')], [200, 'no-store']);
  const [, token = ''] = /--token (glrt-[\w-]+)/.exec(made.html)!;
  assert.match(
    made.html,
    /gitlab-runner register --non-interactive --executor shell --url http:\/\/coppice\.test --token/,
  );
  const verified = await fetch(`${here.url}/api/v4/runners/verify`, {
    method: 'POST',
    headers: { 'runner-token': token },
  });
  assert.equal(verified.status, 200);
  const [runner] = await sent(as('maintainer').get(`/projects/${project.id}/runners?type=project_type`));
  assert.deepEqual([runner.description, runner.tag_list], ['Press', ['linux', 'press']]);

  const { html } = await browser.get(path);
  assert.ok(!html.includes(token), 'the token is not shown again');
  assert.match(html, /Barn/);
  assert.equal((await filledIn(browser, path, 'pause_runner')).status, 303);
  assert.match((await browser.get(path)).html, /Paused/);
  const edited = await filledIn(browser, `${path}?edit_runner=${runner.id}`, 'edit_runner', { description: 'Mill' });
  assert.equal(edited.status, 303);
  const { description, tag_list, paused } = await sent(as('maintainer').get(`/runners/${runner.id}`));
  assert.deepEqual([description, tag_list, paused], ['Mill', ['linux', 'press'], true]);
  assert.equal((await filledIn(browser, path, 'remove_runner')).status, 303);
  assert.equal((await as('maintainer').get(`/runners/${runner.id}`)).status, 404);
});

test('Owners and administrators have the pages of groups and of the server', async () => {
  const here = await world();
  const { as, group, people } = here;
  const owner = await browserOf(here, people.owner);
  const ofGroup = `/groups/${group.full_path}/-/runners`;
  assert.match((await filledIn(owner, ofGroup, 'create_runner')).html, /--token glrt-/);
  assert.equal((await sent(as('owner').get(`/groups/${group.id}/runners?type=group_type`))).length, 1);
  const registration = await filledIn(owner, ofGroup, 'registration');
  assert.match(registration.html, /<code>GR1348941/);
  const admin = await browserOf(here, people.admin);
  assert.match(
    (await filledIn(admin, '/admin/runners', 'create_runner', { description: 'Shared' })).html,
    /--token glrt-/,
  );
  assert.match((await admin.get('/admin/runners')).html, /Shared/);
});
