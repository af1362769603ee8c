import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { bridged } from '../../../../test/support/bridges.ts';
import { allowLocalHooks, sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';

const receiver = await startReceiver();
after(() => receiver.stop());

test('webhooks say which job has started a pipeline, and only the first pipeline of those that wait sends mail', async () => {
  const here = await bridged(
    'unit: {trigger: {include: child.yml, strategy: depend}}\ngo: {trigger: {include: child.yml}, when: manual}',
    { 'child.yml': 'unit: {script: make}' },
    {},
  );
  const { as, at, db, project, start, bridgesOf, work } = here;
  await allowLocalHooks(here);
  await sent(
    as('maintainer').post(`${at}/hooks`, { url: `${receiver.url}/ci`, push_events: false, pipeline_events: true }),
  );
  const id = await start();
  const { unit, go } = await bridgesOf(id);
  const runner = await runnerOf(here);
  await (await runner.take())!.end('failed');
  await work();
  await sendHooks(here);
  const told = receiver.take().map(({ body }) => body);
  const below = unit!.downstream_pipeline!.id;
  const of = (pipeline_id: number) => told.filter(({ object_attributes }) => object_attributes.id === pipeline_id);
  assert.deepEqual(
    of(below)
      .map(({ object_attributes }) => object_attributes.status)
      .toSorted(),
    ['failed', 'pending'],
  );
  for (const { source_pipeline } of of(below))
    assert.deepEqual(
      [source_pipeline.project.id, source_pipeline.pipeline_id, source_pipeline.job_id],
      [project.id, id, unit!.id],
    );
  assert.ok(of(id).length > 0 && of(id).every((body) => !('source_pipeline' in body)));
  const mailed = async () => {
    const query = db.selectFrom('notifications').select('target_id').where('target_type', '=', 'Pipeline');
    return (await query.distinct().orderBy('target_id').execute()).map(({ target_id }) => target_id);
  };
  assert.deepEqual(await mailed(), [id]);
  await sent(as('maintainer').post(`${at}/jobs/${go!.id}/play`));
  await work();
  await (await runner.take())!.end('failed');
  assert.deepEqual(await mailed(), [id, (await bridgesOf(id)).go!.downstream_pipeline!.id]);
});
