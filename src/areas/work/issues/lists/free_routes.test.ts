import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../../test/support/world.ts';

test('the free plan refuses paid filters, treats scopes as titles, and filters by one assignee only', async () => {
  const here = await world({ environment: { COPPICE_LICENSE: 'none' } });
  const { db, project } = here;
  const issue = await db
    .insertInto('issues')
    .values({ project_id: project.id, iid: 1, title: 'a', weight: 1 })
    .returning('id')
    .executeTakeFirstOrThrow();
  const label = await db
    .insertInto('labels')
    .values({ project_id: project.id, title: 'a::b', color: '#112233' })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db.insertInto('issue_labels').values({ issue_id: issue.id, label_id: label.id }).execute();
  const ask = (parameters: Record<string, unknown>) =>
    here.as('reporter').get(`/projects/${project.id}/issues`, parameters);
  for (const [paid, error] of [
    [{ weight: 'x' }, 'weight needs the Premium plan'],
    [{ weight: 2, state: 'opened' }, 'weight needs the Premium plan'],
    [{ epic_id: 5 }, 'epic_id needs the Premium plan'],
    [
      { iteration_id: 1, iteration_title: 'x' },
      'iteration_id needs the Premium plan, iteration_title needs the Premium plan',
    ],
    [{ health_status: 'at_risk' }, 'health_status needs the Ultimate plan'],
    [{ not: { weight: 1 } }, 'not[weight] needs the Premium plan'],
    [{ order_by: 'weight', state: 'opened' }, 'order_by=weight needs the Premium plan'],
  ] as const) {
    const refused = await ask(paid);
    assert.deepEqual([refused.status, refused.body.error], [400, error]);
  }
  assert.equal((await ask({ labels: 'a::b', order_by: 'title' })).body.length, 1);
  assert.equal((await ask({ labels: 'a::*' })).body.length, 0);
  const { status, body } = await ask({ assignee_username: ['x', 'y'] });
  assert.deepEqual([status, body.error], [400, 'assignee_username allows one value, but found 2: x, y']);
  assert.equal((await ask({ assignee_username: 'x' })).status, 200);
  assert.equal(
    (await ask({ not: { assignee_username: ['x', 'y'] } })).body.error,
    'not[assignee_username] allows one value, but found 2: x, y',
  );
});
