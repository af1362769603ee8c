/** The pages of environments, deployments and feature flags. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf, fillIn } from '../support/browser.ts';
import { filledWorld, headOf } from '../support/repository.ts';
import { sent } from '../support/sent.ts';
import { world } from '../support/world.ts';

test('environments and what was deployed to them are shown to those who may read them', async () => {
  const here = await filledWorld();
  const { as, project, people } = here;
  const sha = await headOf(here);
  const given = { environment: 'production', sha, ref: 'main', tag: false, status: 'success' };
  const { body } = await as('developer').post(`/projects/${project.id}/deployments`, given);
  const address = `/${project.full_path}/-/environments`;
  const browser = await browserOf(here, people.reporter);
  const { html: list } = await browser.get(address);
  assert.ok(list.includes(`href="${address}/${body.environment.id}"`));
  const { html: one } = await browser.get(`${address}/${body.environment.id}`);
  assert.ok(/#1<\/a> main at /.test(one) && one.includes(sha!.slice(0, 8)));
  const guest = await browserOf(here, people.guest);
  assert.notEqual((await guest.get(address)).status, 200);
});

test('an environment is created, changed, stopped and deleted', async () => {
  const here = await world();
  const { as, project, people } = here;
  const address = `/${project.full_path}/-/environments`;
  const browser = await browserOf(here, people.developer);
  const asked = { name: 'review/pears', external_url: 'https://pears.example' };
  const made = await fillIn(browser, `${address}/new`, 'environment', asked);
  assert.match(made.to!, new RegExp(`^${address}/\\d+$`));
  const own = async () => (await as('developer').get(`/projects/${project.id}/environments`)).body[0];
  assert.deepEqual([(await own()).tier, (await own()).state], ['development', 'available']);
  await fillIn(browser, `${made.to}/edit`, 'environment', { tier: 'testing', auto_stop_at: '2040-01-01T10:00' });
  assert.deepEqual([(await own()).tier, (await own()).auto_stop_at], ['testing', '2040-01-01T10:00:00.000Z']);
  await browser.send(made.to!, 'stop');
  assert.equal((await own()).state, 'stopped');
  const cleaned = await fillIn(browser, `${address}/clean_up`, 'delete_review_apps', { before: '2040-01-01T00:00' });
  assert.equal(cleaned.to, `${address}/clean_up?done=delete_review_apps`);
  assert.equal((await browser.send(made.to!, 'remove')).to, address);
  assert.equal(await own(), undefined);
  // Who may not stop all of them is not offered it.
  assert.ok(!(await browser.get(`${address}/clean_up`)).html.includes('id="stop_stale"'));
  const maintainer = await browserOf(here, people.maintainer);
  const late = await fillIn(maintainer, `${address}/clean_up`, 'stop_stale', { before: '2040-01-01T00:00' });
  assert.equal(late.status, 400);
  const reader = await browserOf(here, people.reporter);
  assert.equal((await reader.get(`${address}/new`)).status, 403);
});

test('a deployment that waits is approved or rejected on its page', async () => {
  const here = await filledWorld();
  const { as, project, people } = here;
  const rules = { deploy_access_levels: [{ access_level: 30 }], approval_rules: [{ access_level: 40 }] };
  await sent(as('maintainer').post(`/projects/${project.id}/protected_environments`, { name: 'production', ...rules }));
  const given = { environment: 'production', sha: await headOf(here), ref: 'main', tag: false, status: 'running' };
  const { id } = await sent(as('developer').post(`/projects/${project.id}/deployments`, given));
  const address = `/${project.full_path}/-/deployments/${id}`;
  const browser = await browserOf(here, people.maintainer);
  const { html } = await browser.get(address);
  assert.match(html, /1 approval missing\./);
  assert.equal((await browser.send(address, 'reject', { comment: 'Not ripe' })).to, address);
  const after = (await browser.get(address)).html;
  assert.match(after, /rejected it[\s\S]*Not ripe/);
  assert.ok(!after.includes('id="approve"'));
});

test('a feature flag is made, gets strategies, and is switched off', async () => {
  const here = await world();
  const { as, project, people } = here;
  const address = `/${project.full_path}/-/feature_flags`;
  const browser = await browserOf(here, people.developer);
  const taken = await fillIn(browser, `${address}/new`, 'flag', { name: 'Press' });
  assert.equal(taken.status, 400);
  assert.match(taken.html, /id="flag-name-reason">Name can contain only lowercase letters/);
  const made = await fillIn(browser, `${address}/new`, 'flag', { name: 'press', active: 'true' });
  assert.equal(made.to, `${address}/press/edit`);
  const own = async () => (await as('developer').get(`/projects/${project.id}/feature_flags/press`)).body;
  assert.equal((await own()).strategies[0].name, 'default');

  const rollout = `${address}/press/edit?strategy=flexibleRollout`;
  const wrong = await fillIn(browser, rollout, 'add_strategy', { rollout: '200' });
  assert.match(wrong.html, /id="add_strategy-rollout-reason">Percentage must be a string between 0 and 100/);
  await fillIn(browser, rollout, 'add_strategy', { rollout: '30', environment_scope: 'production, staging' });
  const [, added] = (await own()).strategies;
  assert.deepEqual(added.parameters, { rollout: '30', stickiness: 'default', groupId: 'default' });
  const change = { rollout: '60', environment_scope: 'production, review/*' };
  await fillIn(browser, `${address}/press/edit?change=${added.id}`, `change_strategy-${added.id}`, change);
  const [, changed] = (await own()).strategies;
  const scopes = changed.scopes.map(({ environment_scope }: { environment_scope: string }) => environment_scope);
  assert.deepEqual([changed.parameters.rollout, scopes.toSorted()], ['60', ['production', 'review/*']]);

  const lists = `${address}_user_lists`;
  await fillIn(browser, lists, 'create_list', { name: 'Pickers', user_xids: 'rowan,hazel' });
  assert.match((await browser.get(lists)).html, /rowan,hazel/);
  await fillIn(browser, `${address}/press/edit?strategy=gitlabUserList`, 'add_strategy', {});
  assert.equal((await own()).strategies[2].user_list.name, 'Pickers');
  await browser.send(`${address}/press/edit`, 'remove_strategy', { strategy_id: String(changed.id) });
  assert.equal((await own()).strategies.length, 2);
  const edit = await browser.get(`${lists}/1/edit`);
  await fillIn(browser, edit.to!, 'edit_list-1', { user_xids: 'rowan' });
  assert.equal(
    (await as('developer').get(`/projects/${project.id}/feature_flags_user_lists/1`)).body.user_xids,
    'rowan',
  );

  await fillIn(browser, address, 'switch-press', {});
  assert.equal((await own()).active, false);
  assert.equal((await browser.get(`${address}/client`)).status, 403);
  const maintainer = await browserOf(here, people.maintainer);
  const idIn = async () =>
    /<dt>Instance ID<\/dt><dd><code>([^<]+)/.exec((await maintainer.get(`${address}/client`)).html)![1];
  const before = await idIn();
  await fillIn(maintainer, `${address}/client`, 'reset', {});
  assert.notEqual(await idIn(), before);
  assert.equal((await browser.send(`${address}/press/edit`, 'remove')).to, address);
});

test('the jobs of a project are listed by their state, and an owner deletes a pipeline', async () => {
  const here = await filledWorld();
  const { as, project, people } = here;
  const report = (name: string, state: string) =>
    sent(as('developer').post(`/projects/${project.id}/statuses/main`, { name, state }));
  await report('press', 'success');
  const { pipeline_id } = await report('bottle', 'failed');
  const address = `/${project.full_path}/-/jobs`;
  const browser = await browserOf(here, people.owner);
  const failed = (await browser.get(`${address}?status=failed`)).html;
  assert.ok(failed.includes('bottle') && !failed.includes('press'));
  assert.ok((await browser.get(address)).html.includes('press'));
  const pipelines = `/${project.full_path}/-/pipelines`;
  assert.equal((await browser.send(`${pipelines}/${pipeline_id}`, 'remove')).to, pipelines);
  assert.deepEqual((await as('owner').get(`/projects/${project.id}/pipelines`)).body, []);
});

test('a developer schedules pipelines, and a Maintainer takes a schedule over', async () => {
  const here = await filledWorld();
  const { as, project, people } = here;
  const address = `/${project.full_path}/-/pipeline_schedules`;
  const browser = await browserOf(here, people.maintainer);
  await fillIn(browser, `${address}/new`, 'schedule', { description: 'Nightly', ref: 'main', cron: '0 4 * * *' });
  const [schedule] = (await as('maintainer').get(`/projects/${project.id}/pipeline_schedules`)).body;
  assert.deepEqual([schedule.cron, schedule.cron_timezone, schedule.active], ['0 4 * * *', 'UTC', true]);
  const edit = `${address}/${schedule.id}/edit`;
  await fillIn(browser, edit, 'add_variable', { key: 'DEPTH', value: 'three' });
  await fillIn(browser, edit, 'schedule', { cron: '0 5 * * *' });
  const single = async () => (await as('owner').get(`/projects/${project.id}/pipeline_schedules/${schedule.id}`)).body;
  assert.deepEqual([(await single()).cron, (await single()).variables[0].value], ['0 5 * * *', 'three']);
  const reader = await browserOf(here, people.reporter);
  const shown = (await reader.get(address)).html;
  assert.ok(shown.includes('Nightly') && !shown.includes('New schedule') && !shown.includes('Take over'));
  const owner = await browserOf(here, people.owner);
  await fillIn(owner, address, `take-${schedule.id}`, {});
  assert.equal((await single()).owner.id, people.owner.id);
  await fillIn(owner, edit, 'remove_variable-DEPTH', {});
  assert.deepEqual((await single()).variables, []);
  await fillIn(owner, address, `remove-${schedule.id}`, {});
  assert.match((await owner.get(address)).html, /There are no schedules/);
});

test('the configuration of pipelines is shown as it is compiled, and a developer checks a text', async () => {
  const here = await filledWorld();
  const { as, project, people } = here;
  const address = `/${project.full_path}/-/ci/lint`;
  const reader = await browserOf(here, people.reporter);
  assert.match((await reader.get(address)).html, /Please provide content of \.gitlab-ci\.yml/);
  const file = { branch: 'main', content: 'press: {script: [make], when: manual}', commit_message: 'Press' };
  await sent(as('maintainer').post(`/projects/${project.id}/repository/files/.gitlab-ci.yml`, file));
  const shown = (await reader.get(address)).html;
  assert.match(shown, /The configuration is valid.*press.*manual/s);
  assert.ok(!shown.includes('Check a text'));

  const browser = await browserOf(here, people.developer);
  assert.match((await browser.get(address)).html, /Check a text/);
  const refused = await browser.send(address, 'check', { content: 'a: {image: x}', dry_run: 'true' });
  assert.match(refused.html, /is not valid.*jobs a config should implement the script:, run:, or trigger: keyword/s);
  const content = 'a: {script: x, rules: [{if: $CI_COMMIT_TAG}]}\nb: {script: x}';
  const { html } = await browser.send(address, 'check', { content, dry_run: 'true' });
  assert.ok(/The configuration is valid.*1 job/s.test(html) && html.includes('<strong>b</strong>'));
});
