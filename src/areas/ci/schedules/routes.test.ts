import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { mailOf } from '../../../../test/support/mail.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { sent } from '../../../../test/support/sent.ts';
import { runSchedule, startSchedules, tellOfStop } from './index.ts';

const text = 'build: {script: make}\nnightly: {script: make all, rules: [{if: $CI_PIPELINE_SOURCE == "schedule"}]}';
const values = { description: 'Nightly', ref: 'main', cron: '0 1 * * *' };

async function scheduled(options?: Parameters<typeof built>[1]) {
  const here = await built(text, options);
  const { as, at, db, services } = here;
  const base = `${at}/pipeline_schedules`;
  const made = await sent(as('maintainer').post(base, values));
  const path = `${base}/${made.id}`;
  const run = async () => {
    await performJob(services, startSchedules, {});
    await performQueued(services, [runSchedule]);
  };
  const due = (before = '1 minute') =>
    sql`update pipeline_schedules set next_run_at = now() - ${before}::interval where id = ${made.id}`.execute(db);
  const pipelines = async () => (await as('developer').get(`${path}/pipelines`)).body;
  return { ...here, base, path, made, run, due, pipelines };
}

test('a schedule is made, shown, changed and deleted', async () => {
  const { as, path, base, made, people } = await scheduled();
  assert.equal(made.ref, 'refs/heads/main');
  assert.match(made.next_run_at, /T01:00:00/);
  assert.deepEqual(
    [made.cron_timezone, made.active, made.owner.id, made.inputs, made.last_pipeline, made.variables],
    ['UTC', true, people.maintainer.id, [], null, []],
  );
  const inputs = [{ name: 'depth', value: [3] }];
  const changes = { cron: ' 30 2 * * * ', cron_timezone: 'Tokyo', inputs, active: false };
  const changed = await sent(as('maintainer').put(path, changes));
  assert.deepEqual([changed.cron, changed.active, changed.inputs], ['30 2 * * *', false, inputs]);
  const others = [
    { name: 'width', value: 'wide' },
    { name: 'depth', destroy: true },
  ];
  assert.deepEqual((await sent(as('maintainer').put(path, { inputs: others }))).inputs, others.slice(0, 1));
  assert.match(changed.next_run_at, /T17:30:00/);
  const ids = async (scope?: string) =>
    (await as('reporter').get(base, scope === undefined ? {} : { scope })).body.map(({ id }: { id: number }) => id);
  assert.deepEqual([await ids(), await ids('active'), await ids('inactive')], [[made.id], [], [made.id]]);
  assert.equal((await as('developer').put(path, { description: 'Mine' })).status, 403);
  assert.equal((await as('developer').delete(path)).status, 403);
  assert.equal((await as('maintainer').delete(path)).status, 204);
  assert.deepEqual((await as('maintainer').get(path)).body.message, '404 Pipeline Schedule Not Found');
});

test('a wrong schedule is refused by field, and further ones than the plan allows', async () => {
  const { as, base, at } = await scheduled();
  const refusal = async (parameters: object) => {
    const { status, body } = await as('maintainer').post(base, { ...values, ...parameters });
    assert.equal(status, 400);
    return body.message;
  };
  assert.deepEqual(await refusal({ cron: 'daily' }), { cron: [' is invalid syntax'] });
  assert.deepEqual(await refusal({ cron_timezone: 'Nowhere' }), { cron_timezone: ['syntax is invalid'] });
  assert.deepEqual(await refusal({ ref: 'none' }), { ref: ['does not exist'] });
  assert.deepEqual(await refusal({ description: ' ' }), { description: ["can't be blank"] });
  assert.equal(await refusal({ inputs: [{ name: 'a', value: ['\0'] }] }), 'inputs is invalid');
  await sent(as('owner').post(`${at}/repository/tags`, { tag_name: 'main', ref: 'main' }));
  assert.deepEqual(await refusal({}), { ref: ['is ambiguous'] });
  const tag = await sent(as('maintainer').post(base, { ...values, ref: 'refs/tags/main' }));
  assert.equal(tag.ref, 'refs/tags/main');
  for (let count = 3; count <= 10; count++)
    await sent(as('maintainer').post(base, { ...values, ref: 'refs/heads/main' }));
  assert.deepEqual(await refusal({ ref: 'refs/heads/main' }), {
    base: ['Maximum number of pipeline schedules (10) exceeded'],
  });
});

test('only who may run pipelines for the branch schedules them', async () => {
  const { as, base, at, pipelines, path } = await scheduled();
  await sent(as('owner').post(`${at}/repository/branches`, { branch: 'topic', ref: 'main' }));
  assert.equal((await as('developer').post(base, values)).status, 403);
  const own = await sent(as('developer').post(base, { ...values, ref: 'topic' }));
  assert.equal((await as('developer').put(`${base}/${own.id}`, { ref: 'main' })).status, 403);
  assert.equal((await as('developer').post(`${path}/play`)).status, 403);
  assert.equal((await as('guest').get(base)).status, 403);
  assert.equal((await as('reporter').post(base, values)).status, 403);
  assert.deepEqual(await pipelines(), []);
});

test('variables are for the owner and Maintainers, and pipelines get them', async () => {
  const { as, path, run, due, pipelines, at, db } = await scheduled();
  const variable = { key: 'DEPTH', value: 'three', variable_type: 'env_var' };
  assert.deepEqual(await sent(as('maintainer').post(`${path}/variables`, variable)), { ...variable, raw: false });
  const twice = await as('maintainer').post(`${path}/variables`, variable);
  assert.deepEqual([twice.status, twice.body.message], [400, { key: ['has already been taken'] }]);
  assert.equal((await as('developer').post(`${path}/variables`, { key: 'A', value: 'b' })).status, 403);
  assert.equal((await as('developer').get(path)).body.variables, undefined);
  const changed = await as('owner').put(`${path}/variables/DEPTH`, { value: 'four', variable_type: 'file' });
  assert.deepEqual(changed.body, { key: 'DEPTH', value: 'four', variable_type: 'file', raw: false });
  const { rows } = await sql<{ value: Buffer }>`select value from pipeline_schedule_variables`.execute(db);
  assert.equal(rows[0]!.value.includes('four'), false);
  await due();
  await run();
  const [pipeline] = await pipelines();
  assert.deepEqual((await as('maintainer').get(`${at}/pipelines/${pipeline.id}/variables`)).body, [changed.body]);
  const removed = await as('maintainer').delete(`${path}/variables/DEPTH`);
  assert.deepEqual([removed.status, removed.body.key], [200, 'DEPTH']);
  assert.equal(
    (await as('maintainer').put(`${path}/variables/DEPTH`, { value: 'x' })).body.message,
    '404 Variable Not Found',
  );
  assert.deepEqual((await as('maintainer').get(path)).body.variables, []);
});

test('a schedule that is due starts its pipeline once, however often it was missed', async () => {
  const { as, path, run, due, pipelines, statesOf, people, sha } = await scheduled();
  await run();
  assert.deepEqual(await pipelines(), []);
  await due('3 days');
  await run();
  await run();
  const [pipeline, ...others] = await pipelines();
  assert.equal(others.length, 0);
  assert.deepEqual([pipeline.source, pipeline.ref, pipeline.sha], ['schedule', 'main', sha]);
  assert.deepEqual(Object.keys(await statesOf(pipeline.id)).toSorted(), ['build', 'nightly']);
  const { last_pipeline, next_run_at } = (await as('maintainer').get(path)).body;
  assert.deepEqual([last_pipeline.id, last_pipeline.status], [pipeline.id, pipeline.status]);
  assert.ok(Date.parse(next_run_at) > Date.now());
  const { user } = (await as('maintainer').get(`/projects/${pipeline.project_id}/pipelines/${pipeline.id}`)).body;
  assert.equal(user.id, people.maintainer.id);
});

test('a schedule that is switched off starts nothing by itself', async () => {
  const { as, path, run, due, pipelines } = await scheduled();
  await sent(as('maintainer').put(path, { active: false }));
  await due();
  await run();
  assert.deepEqual(await pipelines(), []);
});

test('playing a schedule starts its pipeline in the name of who plays it, once a minute', async () => {
  const { as, path, pipelines, services, at, people } = await scheduled();
  const played = await as('owner').post(`${path}/play`);
  assert.deepEqual([played.status, played.body], [201, { message: '201 Created' }]);
  assert.equal((await as('owner').post(`${path}/play`)).status, 429);
  await performQueued(services, [runSchedule]);
  const [pipeline, ...others] = await pipelines();
  assert.equal(others.length, 0);
  const single = (await as('owner').get(`${at}/pipelines/${pipeline.id}`)).body;
  assert.deepEqual([single.source, single.user.id], ['schedule', people.owner.id]);
});

test('a Maintainer takes a schedule over, and can change it then', async () => {
  const { as, path, people } = await scheduled();
  assert.equal((await as('owner').put(path, { active: false })).status, 403);
  const taken = await as('owner').post(`${path}/take_ownership`);
  assert.deepEqual([taken.status, taken.body.owner.id], [201, people.owner.id]);
  assert.equal((await as('owner').post(`${path}/take_ownership`)).status, 200);
  assert.equal((await as('owner').put(path, { active: false })).status, 200);
  assert.equal((await as('developer').post(`${path}/take_ownership`)).status, 403);
});

test('a schedule whose owner may not run pipelines any more is switched off, and the owner is told', async () => {
  const { as, path, run, due, pipelines, services, people, group } = await scheduled();
  await sent(as('owner').put(`/groups/${group.id}/members/${people.maintainer.id}`, { access_level: 20 }));
  await due();
  await run();
  assert.deepEqual(await pipelines(), []);
  assert.equal((await as('owner').get(path)).body.active, false);
  const [letter, ...others] = await mailOf(services, [tellOfStop]);
  assert.equal(others.length, 0);
  assert.match(letter!.subject, /^A pipeline schedule of .* is switched off$/);
});

test('schedules of a user who is blocked or deleted start nothing', async () => {
  const { as, path, run, due, pipelines, people } = await scheduled();
  await sent(as('admin').post(`/users/${people.maintainer.id}/block`));
  await due();
  await run();
  assert.deepEqual(await pipelines(), []);
  assert.equal((await as('owner').get(path)).body.active, false);
});

test('a wrong configuration makes a failed pipeline, and a read-only project none', async () => {
  const { as, at, run, due, pipelines, commit, base } = await scheduled();
  await commit('broken: [', 'Break it', 'broken');
  const { id } = await sent(as('maintainer').post(base, { ...values, ref: 'broken' }));
  await sent(as('maintainer').post(`${base}/${id}/play`));
  await due();
  await sent(as('owner').post(`${at}/archive`));
  await run();
  assert.deepEqual(await pipelines(), []);
  await sent(as('owner').post(`${at}/unarchive`));
  await sent(as('owner').post(`${base}/${id}/play`));
  await run();
  const [failed] = (await as('developer').get(`${base}/${id}/pipelines`)).body;
  assert.equal(failed.status, 'failed');
});
