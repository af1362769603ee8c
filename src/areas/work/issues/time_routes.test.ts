import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../test/support/issues.ts';
import { world } from '../../../../test/support/world.ts';

test('time is estimated, added, subtracted and reset, each with a system note', async () => {
  const here = await world();
  const { as, project, db, people } = here;
  const { iid, id } = await addIssue(here, {}, 'guest');
  const path = `/projects/${project.id}/issues/${iid}`;
  const post = (name: string, parameters: Record<string, unknown> = {}) =>
    as('planner').post(`${path}/${name}`, parameters);
  const stats = (
    time_estimate: number,
    human_time_estimate: string | null,
    total_time_spent: number,
    human: string | null,
  ) => ({
    time_estimate,
    total_time_spent,
    human_time_estimate,
    human_total_time_spent: human,
  });
  const estimated = await post('time_estimate', { duration: '3d 5h' });
  assert.deepEqual([estimated.status, estimated.body], [200, stats(104_400, '3d 5h', 0, null)]);
  const spent = await post('add_spent_time', { duration: '2h 30m', summary: 'Reading' });
  assert.deepEqual([spent.status, spent.body], [201, stats(104_400, '3d 5h', 9000, '2h 30m')]);
  assert.deepEqual((await post('add_spent_time', { duration: '-30m' })).body, stats(104_400, '3d 5h', 7200, '2h'));
  assert.deepEqual((await as('guest').get(`${path}/time_stats`)).body, stats(104_400, '3d 5h', 7200, '2h'));
  const reset = await post('reset_spent_time');
  assert.deepEqual([reset.status, reset.body], [200, stats(104_400, '3d 5h', 0, null)]);
  const removed = await post('reset_time_estimate');
  assert.deepEqual([removed.status, removed.body], [200, stats(0, null, 0, null)]);
  const notes = await db
    .selectFrom('notes')
    .select(['body', 'author_id'])
    .where('issue_id', '=', id)
    .orderBy('id')
    .execute();
  assert.deepEqual(
    notes.map(({ body }) => body),
    [
      'changed time estimate to 3d 5h',
      'added 2h 30m of time spent',
      'subtracted 30m of time spent',
      'removed time spent',
      'removed time estimate',
    ],
  );
  assert.ok(notes.every(({ author_id }) => author_id === people.planner.id));
  await post('reset_spent_time');
  await post('reset_time_estimate');
  assert.equal((await db.selectFrom('notes').select('id').where('issue_id', '=', id).execute()).length, 5);
});

test('invalid durations are refused, and so are callers who may not track time', async () => {
  const here = await world();
  const { as, project } = here;
  const { iid } = await addIssue(here, {}, 'guest');
  const path = `/projects/${project.id}/issues/${iid}`;
  const refusal = async (name: string, parameters: Record<string, unknown>) => {
    const { status, body } = await as('planner').post(`${path}/${name}`, parameters);
    assert.equal(status, 400);
    return body.message;
  };
  const format = { time_estimate: ['must have a valid format and be greater than or equal to zero.'] };
  assert.equal(await refusal('time_estimate', {}), 'duration is missing, duration is empty');
  assert.deepEqual(await refusal('time_estimate', { duration: 'soon' }), format);
  assert.deepEqual(await refusal('time_estimate', { duration: '-1h' }), format);
  assert.equal(await refusal('add_spent_time', { duration: 'soon' }), 'duration is invalid');
  assert.deepEqual(await refusal('add_spent_time', { duration: '-1h' }), {
    base: ['Time to subtract exceeds the total time spent'],
  });
  await as('planner').post(`${path}/add_spent_time`, { duration: '2147483647s' });
  assert.equal(await refusal('add_spent_time', { duration: '1s' }), 'duration is invalid');
  for (const name of ['time_estimate', 'reset_time_estimate', 'add_spent_time', 'reset_spent_time']) {
    assert.equal((await as('guest').post(`${path}/${name}`, { duration: '1h' })).status, 403, name);
    assert.equal((await as('anonymous').post(`${path}/${name}`, { duration: '1h' })).status, 401, name);
  }
});
