import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../test/support/world.ts';

test('on the free plan paid commands are not applied, and an issue has one assignee', async () => {
  const { as, project, people } = await world({ environment: { COPPICE_LICENSE: 'none' } });
  const { iid } = (await as('planner').post(`/projects/${project.id}/issues`, { title: 'x' })).body;
  const url = `/projects/${project.id}/issues/${iid}/notes`;
  const { guest, developer, planner } = people;
  const answer = await as('planner').post(url, {
    body: `/weight 1\n/health_status at_risk\n/iteration --current\n/epic &1\n/promote\n/assign @${guest.username} @${developer.username}`,
  });
  assert.equal(answer.status, 202);
  assert.deepEqual(answer.body.summary, [
    ...['weight', 'health_status', 'iteration', 'epic', 'promote'].map((name) => `Could not apply ${name} command.`),
    `Assigned @${guest.username}.`,
  ]);
  const replaced = await as('planner').post(url, { body: '/assign me' });
  assert.deepEqual(replaced.body.commands_changes, { assignee_ids: [planner.id] });
});
