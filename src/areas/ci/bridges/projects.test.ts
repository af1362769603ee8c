import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { bridged, otherProject } from '../../../../test/support/bridges.ts';
import { performJob } from '../../../../test/support/jobs.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import { cancelRedundant } from '../running/redundant_actions.ts';
import { moveBridges, startBridge } from './index.ts';

const withInputs = `
spec: {inputs: {fruit: {default: apple}}}
---
eat-$[[ inputs.fruit ]]: {script: make eat}
`;

/** A bridge to another project. */
async function toOther(trigger: string, other = 'eat: {script: make eat}', more = '') {
  const here = await bridged('start: {script: make}');
  const target = await otherProject(here, other);
  const write = (content: string) =>
    sent(
      here.as('owner').post(`${here.at}/repository/commits`, {
        ...{ branch: 'main', commit_message: 'Trigger' },
        actions: [{ action: 'update', file_path: '.gitlab-ci.yml', content }],
      }),
    );
  await write(`go: {trigger: ${trigger.replace('OTHER', target.path_with_namespace)}${more}}`);
  return { ...here, target, write };
}

test('a bridge starts a pipeline of another project in the name of its user, and hands variables and inputs on', async () => {
  const here = await toOther(
    '{project: OTHER, branch: $TO, inputs: {fruit: pear}, strategy: depend, forward: {pipeline_variables: true}}',
    withInputs,
    ', variables: {TO: main, WHO: $CI_PROJECT_NAME}',
  );
  const { start, bridgesOf, target, given, as, people, statusOf, project, work } = here;
  const id = await start({
    variables: [
      { key: 'WHO', value: 'me' },
      { key: 'MINE', value: '$TO' },
    ],
  });
  const { go } = await bridgesOf(id);
  const downstream = go!.downstream_pipeline!;
  assert.deepEqual(
    [go!.status, downstream.project_id, downstream.source, downstream.ref],
    ['running', target.id, 'pipeline', 'main'],
  );
  assert.deepEqual(await given(downstream.id, target.at), { TO: 'main', WHO: 'me', MINE: '$TO' });
  const { body: shown } = await as('owner').get(`${target.at}/pipelines/${downstream.id}`);
  assert.equal(shown.user.id, people.maintainer.id);
  const { body: jobs } = await as('owner').get(`${target.at}/pipelines/${downstream.id}/jobs`);
  assert.deepEqual(
    (jobs as { name: string }[]).map(({ name }) => name),
    ['eat-pear'],
  );
  assert.equal((await as('owner').get(`${target.at}/pipelines`)).body.length, 1);
  // A pipeline of another project goes on when the bridge is canceled.
  await sent(as('maintainer').post(`/projects/${project.id}/pipelines/${id}/cancel`));
  await work();
  assert.deepEqual([await statusOf(id), await statusOf(downstream.id, target.at)], ['canceled', 'pending']);
});

test('variables of the file are kept back if the bridge says so', async () => {
  const here = await toOther('{project: OTHER, forward: {yaml_variables: false}}', undefined, ', variables: {A: "1"}');
  const { start, bridgesOf, target, given } = here;
  const { go } = await bridgesOf(await start({ variables: [{ key: 'B', value: '2' }] }));
  assert.equal(go!.status, 'success');
  assert.deepEqual(await given(go!.downstream_pipeline!.id, target.at), {});
});

test('a bridge needs a project that its user sees, and the right to run pipelines there', async () => {
  const here = await toOther('OTHER');
  const { as, at, target, people, write, start, bridgesOf } = here;
  const outcome = async () => {
    const { go } = await bridgesOf(await start());
    return [go!.status, go!.failure_reason, go!.downstream_pipeline];
  };
  assert.deepEqual((await outcome()).slice(0, 2), ['success', undefined]);
  const branch = (name: string) => write(`go: {trigger: {project: ${target.path_with_namespace}, branch: ${name}}}`);
  await branch('nowhere');
  assert.deepEqual(await outcome(), ['failed', 'downstream_pipeline_creation_failed', null]);
  await write('go: {trigger: group/nothing}');
  assert.deepEqual(await outcome(), ['failed', 'downstream_bridge_project_not_found', null]);
  await write('go: {trigger: $NOTHING}');
  assert.deepEqual(await outcome(), ['failed', 'invalid_bridge_trigger', null]);
  await write(`go: {trigger: ${target.path_with_namespace}, variables: {A: "1"}}`);
  await sent(as('owner').put(target.at, { ci_pipeline_variables_minimum_override_role: 'no_one_allowed' }));
  assert.deepEqual(await outcome(), ['failed', 'insufficient_bridge_permissions', null]);
  await write(`go: {trigger: ${target.path_with_namespace}}`);
  const hidden = await otherProject(here, 'eat: {script: make}', false);
  await write(`go: {trigger: ${hidden.path_with_namespace}}`);
  assert.deepEqual(await outcome(), ['failed', 'downstream_bridge_project_not_found', null]);
  const member = { user_id: people.maintainer.id, access_level: 20 };
  await sent(as('owner').post(`${hidden.at}/members`, member));
  assert.deepEqual(await outcome(), ['failed', 'insufficient_bridge_permissions', null]);
  await sent(as('owner').put(`${hidden.at}/members/${member.user_id}`, { access_level: 40 }));
  const id = await start();
  const own = (await as('maintainer').get(`${at}/pipelines/${id}/bridges`)).body[0];
  assert.deepEqual([own.status, own.downstream_pipeline.project_id], ['success', hidden.id]);
  // Who may not read the other project does not learn of its pipeline.
  assert.deepEqual(
    [(await bridgesOf(id)).go!.status, (await bridgesOf(id)).go!.downstream_pipeline],
    ['success', null],
  );
  await sent(as('owner').post(`${hidden.at}/archive`));
  assert.deepEqual(await outcome(), ['failed', 'insufficient_bridge_permissions', null]);
});

test('a bridge starts one pipeline however often it is worked on, and none once it is canceled', async () => {
  const here = await toOther('{project: OTHER, strategy: depend}');
  const { as, at, target, bridgesOf, start, services } = here;
  const pipelines = async () => (await as('owner').get(`${target.at}/pipelines`)).body.length;
  const waiting = async () => {
    const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
    return { id: id as number, job_id: (await bridgesOf(id)).go!.id };
  };
  const first = await waiting();
  await Promise.all([1, 2, 3].map(() => performJob(services, startBridge, { job_id: first.job_id })));
  await performJob(services, startBridge, { job_id: first.job_id });
  assert.deepEqual([await pipelines(), (await bridgesOf(first.id)).go!.status], [1, 'running']);
  const second = await waiting();
  await sent(as('maintainer').post(`${at}/jobs/${second.job_id}/cancel`));
  await performJob(services, startBridge, { job_id: second.job_id });
  assert.deepEqual([await pipelines(), (await bridgesOf(second.id)).go!.status], [1, 'canceled']);
  await start();
  assert.equal(await pipelines(), 2);
});

test('work that was lost is done again, and a bridge ends with the project that it waits for', async () => {
  const here = await toOther('{project: OTHER, strategy: depend}');
  const { as, at, db, target, bridgesOf, work, services, statusOf } = here;
  const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const { go } = await bridgesOf(id);
  await sql`
    delete from graphile_worker._private_jobs where (payload->>'job_id')::bigint = ${go!.id}`.execute(db);
  await work();
  assert.equal((await bridgesOf(id)).go!.status, 'pending');
  await performJob(services, moveBridges);
  await work();
  assert.equal((await bridgesOf(id)).go!.status, 'pending');
  await sql`update commit_statuses set queued_at = now() - interval '11 minutes' where id = ${go!.id}`.execute(db);
  await performJob(services, moveBridges);
  await work();
  assert.equal((await bridgesOf(id)).go!.status, 'running');
  await performJob(services, moveBridges);
  assert.equal((await bridgesOf(id)).go!.status, 'running');
  await db.deleteFrom('projects').where('id', '=', target.id).execute();
  await performJob(services, moveBridges);
  const ended = (await bridgesOf(id)).go!;
  assert.deepEqual(
    [ended.status, ended.failure_reason, await statusOf(id)],
    ['failed', 'downstream_bridge_project_not_found', 'failed'],
  );
});

test('projects that start each other in a circle are stopped, and so is a tree that grows too large', async () => {
  const here = await toOther('OTHER', 'back: {script: make}');
  const { as, at, db, project, target, start, bridgesOf, statusOf } = here;
  await sent(
    as('owner').post(`${target.at}/repository/commits`, {
      ...{ branch: 'main', commit_message: 'Go back' },
      actions: [
        {
          ...{ action: 'update', file_path: '.gitlab-ci.yml' },
          content: `back: {trigger: {project: ${project.full_path}, strategy: depend}}`,
        },
      ],
    }),
  );
  const id = await start();
  const all = async (place: string) =>
    (await as('owner').get(`${place}/pipelines?per_page=100`)).body as { id: number }[];
  const [last, ...others] = await all(target.at);
  assert.deepEqual([(await all(at)).length, others.length], [3, 2]);
  const [back] = (await as('developer').get(`${target.at}/pipelines/${last!.id}/bridges`)).body;
  assert.deepEqual([back.status, back.failure_reason], ['failed', 'pipeline_loop_detected']);
  assert.equal(await statusOf(id), 'success');
  const { id: full } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  await sql`
    insert into pipelines (iid, project_id, sha, ref, status, source, tree_id)
    select 10000 + number, ${target.id}, 'a', 'b', 'success', 'pipeline', ${full} from generate_series(1, 999) number`.execute(
    db,
  );
  await here.work();
  const { go } = await bridgesOf(full);
  assert.deepEqual([go!.status, go!.failure_reason], ['failed', 'reached_max_pipeline_hierarchy_size']);
});

test('a bridge takes the status of the newest pipeline of another project', async () => {
  const here = await bridged('start: {script: make}');
  const { as, at, start, bridgesOf, statusOf, work } = here;
  const target = await otherProject(here, 'eat: {script: make eat}');
  const content = `mirror: {needs: {pipeline: ${target.path_with_namespace}}}`;
  await sent(
    as('owner').post(`${at}/repository/commits`, {
      ...{ branch: 'main', commit_message: 'Mirror' },
      actions: [{ action: 'update', file_path: '.gitlab-ci.yml', content }],
    }),
  );
  const none = (await bridgesOf(await start())).mirror!;
  assert.deepEqual([none.status, none.failure_reason], ['failed', 'downstream_bridge_project_not_found']);
  const { id: theirs } = await sent(as('maintainer').post(`${target.at}/pipeline`, { ref: 'main' }));
  const id = await start();
  const { mirror } = await bridgesOf(id);
  assert.deepEqual([mirror!.status, mirror!.downstream_pipeline], ['running', null]);
  await sent(as('maintainer').post(`${target.at}/pipelines/${theirs}/cancel`));
  await work();
  assert.deepEqual([(await bridgesOf(id)).mirror!.status, await statusOf(id)], ['canceled', 'canceled']);
});

test('a newer commit cancels the older pipeline with its children, unless something has begun in them', async () => {
  const here = await bridged('unit: {trigger: {include: child.yml, strategy: depend}}', {
    'child.yml': 'unit: {script: make}',
  });
  const { as, at, project, db, start, bridgesOf, statusOf, work } = here;
  const below = async (id: number) => (await bridgesOf(id)).unit!.downstream_pipeline!.id;
  const push = async (file: string) => {
    const change = { branch: 'main', commit_message: 'Go on', content: 'a' };
    await sent(as('owner').post(`${at}/repository/files/${file}`, change));
    const { head } = { head: (await as('owner').get(`${at}/repository/commits/main`)).body.id };
    await cancelRedundant(db, { project_id: project.id, ref: 'main', head });
    await work();
  };
  const runner = await runnerOf(here);
  const first = await start();
  const taken = (await runner.take())!;
  const second = await start();
  await push('a.txt');
  assert.deepEqual([await statusOf(first), await statusOf(await below(first))], ['running', 'running']);
  assert.deepEqual([await statusOf(second), await statusOf(await below(second))], ['canceled', 'canceled']);
  await taken.end('success');
  await work();
  assert.equal(await statusOf(first), 'success');
});
