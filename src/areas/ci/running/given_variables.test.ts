import assert from 'node:assert/strict';
import { test } from 'node:test';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';

const refused = 'Insufficient permissions to set pipeline variables';

test('whoever starts a job gives it variables, which win over others and stay when it is retried', async () => {
  const here = await built('ship: {script: make, when: manual, variables: {TARGET: here}}\n');
  const { as, at, jobsOf } = here;
  const runner = await runnerOf(here);
  const given = async () => {
    const job = (await runner.take())!;
    await job.end('success');
    const variables = job.job.variables as { key: string; value: string }[];
    return variables.filter(({ key }) => key === 'TARGET' || key === 'MORE').map(({ key, value }) => `${key}=${value}`);
  };
  const variables = [{ key: 'TARGET', value: 'of pipeline' }];
  const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main', variables }));
  const { ship } = await jobsOf(id);
  const play = { job_variables_attributes: [{ key: 'TARGET', value: '$there' }] };
  await sent(as('maintainer').post(`${at}/jobs/${ship!.id}/play`, play));
  assert.deepEqual(await given(), ['TARGET=$there']);
  const more = { job_variables_attributes: [{ key: 'MORE', value: '1' }] };
  await sent(as('maintainer').post(`${at}/jobs/${ship!.id}/retry`, more));
  assert.deepEqual((await given()).toSorted(), ['MORE=1', 'TARGET=$there']);
  const twice = { job_variables_attributes: [...play.job_variables_attributes, ...play.job_variables_attributes] };
  const { body } = await as('maintainer').post(`${at}/jobs/${(await jobsOf(id)).ship!.id}/retry`, twice);
  assert.deepEqual(body.message, { base: ['Duplicate variable name: TARGET'] });
});

test('a project says who may give variables, and who may cancel', async () => {
  const { as, at, jobsOf } = await built('ship: {script: make, when: manual, allow_failure: false}\n');
  await sent(as('maintainer').delete(`${at}/protected_branches/main`));
  const set = (role: string) => sent(as('owner').put(at, { ci_pipeline_variables_minimum_override_role: role }));
  const variables = [{ key: 'A', value: '1' }];
  const start = (persona: 'developer' | 'maintainer' | 'owner', given = variables) =>
    as(persona).post(`${at}/pipeline`, { ref: 'main', variables: given });
  await set('maintainer');
  assert.deepEqual((await start('developer')).body.message, { base: [refused] });
  const { id } = await sent(start('developer', []));
  const job_id = (await jobsOf(id)).ship!.id;
  const play = as('developer').post(`${at}/jobs/${job_id}/play`, { job_variables_attributes: variables });
  assert.deepEqual((await play).body.message, { base: [refused] });
  assert.equal((await start('maintainer')).status, 201);
  await set('no_one_allowed');
  assert.equal((await start('owner')).status, 400);

  await sent(as('owner').put(at, { ci_restrict_pipeline_cancellation_role: 'maintainer' }));
  for (const path of [`${at}/pipelines/${id}/cancel`, `${at}/jobs/${job_id}/cancel`])
    assert.equal((await as('developer').post(path)).status, 403);
  await sent(as('owner').put(at, { ci_restrict_pipeline_cancellation_role: 'no_one' }));
  assert.equal((await as('owner').post(`${at}/jobs/${job_id}/cancel`)).status, 403);
  await sent(as('owner').put(at, { ci_restrict_pipeline_cancellation_role: 'developer' }));
  assert.equal((await as('developer').post(`${at}/jobs/${job_id}/cancel`)).status, 201);
});
