import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendFile, zipped } from '../../../../test/support/artifacts.ts';
import { bridged } from '../../../../test/support/bridges.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';

const child = 'unit: {script: make unit}\nlater: {stage: deploy, script: make later}\n';

test('a bridge starts a child for the commit of its parent, and waits for it', async () => {
  const here = await bridged(
    `
variables: {FRUIT: apple}
unit: {trigger: {include: child.yml, strategy: depend}, variables: {TREE: "$FRUIT tree", AT: $CI_PIPELINE_ID}}
ship: {stage: deploy, script: make ship}
`,
    { 'child.yml': child },
  );
  const { as, at, start, bridgesOf, statesOf, statusOf, given, work, people } = here;
  const id = await start();
  const { unit } = await bridgesOf(id);
  assert.deepEqual([unit!.status, unit!.downstream_pipeline!.source], ['running', 'parent_pipeline']);
  const below = unit!.downstream_pipeline!.id;
  const [parent, shown] = [
    (await as('developer').get(`${at}/pipelines/${id}`)).body,
    (await as('developer').get(`${at}/pipelines/${below}`)).body,
  ];
  assert.deepEqual(
    [shown.source, shown.ref, shown.sha, shown.user.id, shown.status],
    ['parent_pipeline', 'main', parent.sha, people.maintainer.id, 'pending'],
  );
  assert.deepEqual(await given(below), { FRUIT: 'apple', TREE: 'apple tree', AT: String(id) });
  assert.deepEqual(await statesOf(below), { unit: 'pending', later: 'created' });
  assert.deepEqual([parent.status, await statesOf(id)], ['running', { ship: 'created' }]);
  const runner = await runnerOf(here);
  const taken = (await runner.take())!;
  const variables = Object.fromEntries(
    (taken.job.variables as { key: string; value: string }[]).map(({ key, value }) => [key, value]),
  );
  assert.deepEqual([variables.CI_PIPELINE_SOURCE, variables.TREE], ['parent_pipeline', 'apple tree']);
  await taken.end('success');
  await (await runner.take())!.end('success');
  assert.equal(await statusOf(below), 'success');
  await work();
  assert.equal((await bridgesOf(id)).unit!.status, 'success');
  assert.deepEqual(await statesOf(id), { ship: 'pending' });
});

test('without a strategy a bridge has succeeded when its child is there', async () => {
  const { as, at, start, bridgesOf, statusOf } = await bridged('unit: {trigger: {include: child.yml}}', {
    'child.yml': child,
  });
  const id = await start();
  const { unit } = await bridgesOf(id);
  assert.deepEqual(
    [unit!.status, unit!.downstream_pipeline!.status, await statusOf(id)],
    ['success', 'pending', 'success'],
  );
  const ids = async (query: string) =>
    ((await as('developer').get(`${at}/pipelines${query}`)).body as { id: number }[]).map((each) => each.id);
  assert.deepEqual(await ids(''), [id]);
  assert.deepEqual(await ids('?source=parent_pipeline'), [unit!.downstream_pipeline!.id]);
  assert.equal((await as('developer').get(`${at}/pipelines/latest`)).body.id, id);
  const { body: commit } = await as('developer').get(`${at}/repository/commits/main`);
  assert.deepEqual([commit.last_pipeline.id, commit.status], [id, 'success']);
  const { body: jobs } = await as('developer').get(`${at}/pipelines/${id}/jobs`);
  assert.deepEqual(jobs, []);
  assert.equal((await as('developer').get(`${at}/jobs/${unit!.id}`)).status, 404);
});

test('a child that fails fails its bridge, and a retry of either goes on', async () => {
  const here = await bridged(
    `
unit: {trigger: {include: child.yml, strategy: depend}}
ship: {stage: deploy, script: make ship}
`,
    { 'child.yml': 'unit: {script: make unit}' },
  );
  const { as, at, start, bridgesOf, statesOf, statusOf, work } = here;
  const runner = await runnerOf(here);
  const id = await start();
  const below = (await bridgesOf(id)).unit!.downstream_pipeline!.id;
  await (await runner.take())!.end('failed');
  await work();
  const { unit } = await bridgesOf(id);
  assert.deepEqual([unit!.status, unit!.failure_reason, await statusOf(id)], ['failed', 'unknown_failure', 'failed']);
  assert.deepEqual(await statesOf(id), { ship: 'skipped' });
  await sent(as('maintainer').post(`${at}/pipelines/${below}/retry`));
  await work();
  assert.equal((await bridgesOf(id)).unit!.status, 'running');
  assert.deepEqual([await statesOf(id), await statusOf(id)], [{ ship: 'created' }, 'running']);
  await (await runner.take())!.end('failed');
  await work();
  const retried = await as('maintainer').post(`${at}/jobs/${unit!.id}/retry`);
  assert.deepEqual([retried.status, retried.body.status, retried.body.downstream_pipeline], [201, 'pending', null]);
  await work();
  const again = (await bridgesOf(id)).unit!;
  assert.deepEqual([again.id, again.status], [retried.body.id, 'running']);
  assert.notEqual(again.downstream_pipeline!.id, below);
  // The bridge of the older child was replaced.
  await sent(as('maintainer').post(`${at}/pipelines/${below}/retry`));
  await sent(as('maintainer').post(`${at}/pipelines/${below}/cancel`));
  await work();
  assert.equal((await bridgesOf(id)).unit!.status, 'running');
});

test('cancelling a parent or a bridge cancels the children, and deleting a parent deletes them', async () => {
  const { as, at, start, bridgesOf, statusOf, work } = await bridged(
    `
wait: {trigger: {include: child.yml, strategy: depend}}
go: {trigger: {include: child.yml}}
build: {script: make}
`,
    { 'child.yml': 'below: {trigger: {include: last.yml, strategy: depend}}', 'last.yml': child },
  );
  const id = await start();
  const { wait, go } = await bridgesOf(id);
  const children = [wait!.downstream_pipeline!.id, go!.downstream_pipeline!.id];
  const grandchildren = await Promise.all(
    children.map(async (each) => (await bridgesOf(each)).below!.downstream_pipeline!.id),
  );
  const states = () => Promise.all([...children, ...grandchildren].map((each) => statusOf(each)));
  assert.deepEqual(await states(), ['running', 'running', 'pending', 'pending']);
  const canceled = await as('maintainer').post(`${at}/jobs/${wait!.id}/cancel`);
  assert.deepEqual(
    [canceled.status, canceled.body.status, canceled.body.runner, canceled.body.downstream_pipeline.id],
    [201, 'canceled', null, children[0]],
  );
  await work();
  assert.deepEqual(await states(), ['canceled', 'running', 'canceled', 'pending']);
  await sent(as('maintainer').post(`${at}/pipelines/${id}/cancel`));
  await work();
  assert.deepEqual(await states(), ['canceled', 'canceled', 'canceled', 'canceled']);
  assert.equal(await statusOf(id), 'canceled');
  assert.equal((await as('owner').delete(`${at}/pipelines/${id}`)).status, 204);
  for (const each of [...children, ...grandchildren])
    assert.equal((await as('owner').get(`${at}/pipelines/${each}`)).status, 404);
});

test('a bridge ends when its child is deleted', async () => {
  const { as, at, start, bridgesOf, work } = await bridged(
    'unit: {trigger: {include: child.yml, strategy: mirror}, allow_failure: true}',
    { 'child.yml': child },
  );
  const id = await start();
  const below = (await bridgesOf(id)).unit!.downstream_pipeline!.id;
  assert.equal((await as('owner').delete(`${at}/pipelines/${below}`)).status, 204);
  await work();
  const { unit } = await bridgesOf(id);
  assert.deepEqual(
    [unit!.downstream_pipeline, unit!.status, unit!.failure_reason],
    [null, 'failed', 'downstream_bridge_project_not_found'],
  );
});

test('children are three deep at most, and a wrong one fails its bridge', async () => {
  const { as, at, start, bridgesOf } = await bridged(
    `
down: {trigger: {include: child.yml}}
wrong: {trigger: {include: wrong.yml}}
none: {trigger: {include: none.yml}, allow_failure: true}
missing: {trigger: {include: missing.yml}, when: manual}
`,
    {
      'child.yml': 'down: {trigger: {include: child.yml}}',
      'wrong.yml': 'a: {script: [], stage: nowhere}',
      'none.yml': 'a: {script: make, rules: [{when: never}]}',
    },
  );
  const id = await start();
  const { down, wrong, none, missing } = await bridgesOf(id);
  const second = (await bridgesOf(down!.downstream_pipeline!.id)).down!;
  const third = (await bridgesOf(second.downstream_pipeline!.id)).down!;
  assert.deepEqual(
    [second.status, third.status, third.failure_reason, third.downstream_pipeline],
    ['success', 'failed', 'reached_max_descendant_pipelines_depth', null],
  );
  assert.deepEqual(
    [wrong!.failure_reason, none!.failure_reason],
    ['downstream_pipeline_creation_failed', 'downstream_pipeline_creation_failed'],
  );
  const { body: refused } = await as('developer').get(`${at}/pipelines/${wrong!.downstream_pipeline!.id}`);
  assert.deepEqual([refused.status, refused.failure_reason], ['failed', 'config_error']);
  assert.equal(none!.downstream_pipeline, null);
  assert.deepEqual(Object.keys(await bridgesOf(id, '?scope[]=manual')), ['missing']);
  const played = await as('maintainer').post(`${at}/jobs/${missing!.id}/play`);
  assert.deepEqual([played.status, played.body.status], [200, 'pending']);
});

test('a child can be the configuration that an earlier job has made, with inputs', async () => {
  const here = await bridged(`
make: {script: make, artifacts: {paths: [out]}}
run:
  stage: deploy
  trigger:
    include: [{artifact: out/$NAME.yml, job: make}]
    inputs: {fruit: pear}
    strategy: depend
  variables: {NAME: made}
`);
  const { start, statesOf, bridgesOf, work } = here;
  const id = await start();
  const runner = await runnerOf(here);
  const make = (await runner.take())!;
  const text = 'spec: {inputs: {fruit: {}}}\n---\neat-$[[ inputs.fruit ]]: {script: make eat}\n';
  assert.equal((await sendFile(here, make, zipped({ 'out/made.yml': text }))).status, 201);
  await make.end('success');
  await work();
  const { run } = await bridgesOf(id);
  assert.deepEqual([run!.status, run!.failure_reason], ['running', undefined]);
  assert.deepEqual(await statesOf(run!.downstream_pipeline!.id), { 'eat-pear': 'pending' });
});

test('a bridge with an environment deploys there, if its user may', async () => {
  const here = await bridged('ship: {trigger: {include: child.yml, strategy: depend}, environment: production}', {
    'child.yml': 'ship: {script: make}',
  });
  const { as, at, start, bridgesOf, work } = here;
  const id = await start();
  const deployments = async () =>
    ((await as('developer').get(`${at}/deployments?sort=desc`)).body as { status: string; deployable: unknown }[]).map(
      ({ status, deployable }) => [status, deployable],
    );
  assert.deepEqual(await deployments(), [['running', null]]);
  await (await (await runnerOf(here)).take())!.end('success');
  await work();
  assert.deepEqual([(await bridgesOf(id)).ship!.status, await deployments()], ['success', [['success', null]]]);
  const rule = { name: 'production', deploy_access_levels: [{ access_level: 60 }] };
  await sent(as('owner').post(`${at}/protected_environments`, rule));
  const refused = (await bridgesOf(await start())).ship!;
  assert.deepEqual([refused.status, refused.failure_reason], ['failed', 'protected_environment_failure']);
});
