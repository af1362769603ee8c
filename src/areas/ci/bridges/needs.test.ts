import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendFile, zipped } from '../../../../test/support/artifacts.ts';
import { bridged, otherProject } from '../../../../test/support/bridges.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';

type Runner = Awaited<ReturnType<typeof runnerOf>>;
type Held = NonNullable<Awaited<ReturnType<Runner['take']>>>;

const names = ({ job }: Held) => (job.dependencies as { name: string }[]).map(({ name }) => name);
const fetched = (runner: Runner, { job, token }: Held) =>
  Promise.all(
    (job.dependencies as { id: number }[]).map(
      async ({ id }) => (await runner.call('GET', `/jobs/${id}/artifacts`, { headers: { 'job-token': token } })).status,
    ),
  );

test('a job of a child gets the files of jobs of its parent and of other children', async () => {
  const here = await bridged(
    `
make: {stage: build, script: make, artifacts: {paths: [out]}}
first: {stage: test, trigger: {include: first.yml, strategy: depend}}
second:
  stage: deploy
  when: manual
  trigger: {include: second.yml, forward: {pipeline_variables: true}}
  variables: {PARENT: $CI_PIPELINE_ID}
`,
    {
      'first.yml': 'peel: {script: make peel, artifacts: {paths: [out]}}',
      'second.yml': `
eat: {script: make eat, needs: [{pipeline: $PARENT, job: make}]}
share: {script: make share, needs: [{pipeline: $SIBLING, job: peel}]}
none: {script: make, needs: [{pipeline: $CI_PIPELINE_ID, job: eat}]}
`,
    },
  );
  const { as, at, start, statesOf, bridgesOf, work } = here;
  const id = await start();
  const runner = await runnerOf(here);
  for (const _ of ['make', 'peel']) {
    const job = (await runner.take())!;
    assert.equal((await sendFile(here, job, zipped({ 'out/a.txt': 'a' }))).status, 201);
    await job.end('success');
    await work();
  }
  const { first, second } = await bridgesOf(id);
  const SIBLING = String(first!.downstream_pipeline!.id);
  const given = { job_variables_attributes: [{ key: 'SIBLING', value: SIBLING }] };
  await sent(as('maintainer').post(`${at}/jobs/${second!.id}/play`, given));
  await work();
  const [eat, share] = [(await runner.take())!, (await runner.take())!];
  assert.deepEqual([names(eat), await fetched(runner, eat)], [['make'], [200]]);
  assert.deepEqual([names(share), await fetched(runner, share)], [['peel'], [200]]);
  // Its own pipeline is no other one.
  assert.equal(await runner.take(), undefined);
  const below = (await bridgesOf(id)).second!.downstream_pipeline!.id;
  assert.deepEqual(await statesOf(below), { eat: 'running', share: 'running', none: 'failed' });
  const { body: jobs } = await as('developer').get(`${at}/pipelines/${below}/jobs?scope[]=failed`);
  assert.equal(jobs[0].failure_reason, 'missing_dependency_failure');
});

test('a job gets the files of the newest job of another project, if its user may read them', async () => {
  const here = await bridged('start: {script: make}');
  const { as, at, start, statesOf, people } = here;
  const other = await otherProject(here, 'make: {script: make, artifacts: {paths: [out]}}', false);
  const theirs = await runnerOf({ ...here, as: () => as('owner'), project: { ...here.project, id: other.id } });
  await sent(as('owner').post(`${other.at}/pipeline`, { ref: 'main' }));
  const make = (await theirs.take())!;
  assert.equal((await sendFile(here, make, zipped({ 'out/a.txt': 'a' }))).status, 201);
  await make.end('success');
  const content = `eat: {script: make, needs: [{project: ${other.path_with_namespace}, ref: main, job: make}]}`;
  await sent(
    as('owner').post(`${at}/repository/commits`, {
      ...{ branch: 'main', commit_message: 'Eat' },
      actions: [{ action: 'update', file_path: '.gitlab-ci.yml', content }],
    }),
  );
  const runner = await runnerOf(here);
  const hidden = await start();
  assert.equal(await runner.take(), undefined);
  assert.deepEqual(await statesOf(hidden), { eat: 'failed' });
  await sent(as('owner').post(`${other.at}/members`, { user_id: people.maintainer.id, access_level: 20 }));
  await start();
  const eat = (await runner.take())!;
  assert.deepEqual([names(eat), await fetched(runner, eat)], [['make'], [200]]);
  const stranger = await runner.call('GET', `/jobs/${make.id}/artifacts`, { headers: { 'job-token': make.token } });
  assert.equal(stranger.status, 403);
});
