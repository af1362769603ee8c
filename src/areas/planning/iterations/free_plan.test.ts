import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../test/support/world.ts';

test('the free plan has no iterations, and its scoped labels are not exclusive', async () => {
  const { as, group, project } = await world({ environment: { COPPICE_LICENSE: 'none' } });
  const cadence = { title: 'Sprints', start_date: '2030-01-01', duration_in_weeks: 1, iterations_in_advance: 1 };
  const added = await as('owner').post(`/groups/${group.id}/iteration_cadences`, cadence);
  assert.deepEqual([added.status, added.body], [403, { message: '403 Forbidden - This needs the Premium plan' }]);
  for (const path of [`/groups/${group.id}/iterations`, `/projects/${project.id}/iterations`])
    assert.equal((await as('owner').get(path)).status, 403);

  const url = `/projects/${project.id}/issues`;
  const issue = await as('planner').post(url, { title: 'Ripen', labels: 'p::1,p::2' });
  assert.deepEqual(issue.body.labels, ['p::1', 'p::2']);
  assert.deepEqual((await as('planner').put(`${url}/1`, { add_labels: 'p::3' })).body.labels, ['p::1', 'p::2', 'p::3']);
  for (const kind of ['weight', 'iteration'])
    assert.equal((await as('planner').get(`${url}/1/resource_${kind}_events`)).status, 403);
  assert.equal((await as('planner').get(`${url}/1/resource_label_events`)).body.length, 3);
});
