import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../test/support/issues.ts';
import { world } from '../../../../test/support/world.ts';

const free = { environment: { COPPICE_LICENSE: 'none' } };

test('on the free plan an issue has one assignee, no weight and no blocking links', async () => {
  const here = await world(free);
  const { as, people, project } = here;
  const assignee_ids = [people.reporter.id, people.guest.id];
  const issue = await addIssue(here, { assignee_ids, weight: -5, epic_id: 1, labels: 'a::1,a::2' }, 'planner');
  assert.deepEqual(
    issue.assignees.map(({ id }) => id),
    [people.reporter.id],
  );
  assert.deepEqual(issue.labels, ['a::1', 'a::2']);
  for (const paid of ['weight', 'blocking_issues_count', 'health_status', 'epic', 'epic_iid', 'iteration'])
    assert.ok(!(paid in issue), paid);
  const path = `/projects/${project.id}/issues/${issue.iid}`;
  const { status, body } = await as('planner').put(path, {
    assignee_ids: assignee_ids.toReversed(),
    weight: 'x',
    title: 'y',
  });
  assert.deepEqual([status, body.assignee.id, body.assignees.length], [200, people.guest.id, 1]);
  const other = await addIssue(here);
  const link = { target_project_id: project.id, target_issue_iid: other.iid };
  const blocked = await as('reporter').post(`${path}/links`, { ...link, link_type: 'blocks' });
  assert.deepEqual([blocked.status, blocked.body.message], [403, 'Blocked issues not available for current license']);
  assert.equal((await as('reporter').post(`${path}/links`, link)).status, 201);
});

test('a personal project has neither epics nor iterations', async () => {
  const { as } = await world(free);
  const { body } = await as('outsider').post('/projects', { name: 'own' });
  const issue = (await as('outsider').post(`/projects/${body.id}/issues`, { title: 'x' })).body;
  assert.deepEqual([issue.iid, 'epic' in issue], [1, false]);
});

test('administrators can limit how many issues a user creates per minute', async () => {
  const here = await world(free);
  const { as, project } = here;
  const { status } = await as('admin').put('/application/settings', { issues_create_limit: 2 });
  assert.equal(status, 200);
  try {
    const add = async () => as('guest').post(`/projects/${project.id}/issues`, { title: 'x' });
    const answers = [await add(), await add(), await add(), await add(), await add()];
    // A minute may end in between: then two more are created.
    assert.ok(answers.filter((answer) => answer.status === 201).length <= 4);
    const refused = answers.find((answer) => answer.status === 429);
    assert.deepEqual(refused?.body, {
      message: { error: 'This endpoint has been requested too many times. Try again later.' },
    });
  } finally {
    await as('admin').put('/application/settings', { issues_create_limit: 0 });
  }
});

test('administrators can limit searches per minute; lists without a search do not count', async () => {
  const here = await world(free);
  const { as } = here;
  const limits = (most: number) =>
    as('admin').put('/application/settings', { search_rate_limit: most, search_rate_limit_unauthenticated: most });
  assert.equal((await limits(2)).body.search_rate_limit, 2);
  try {
    const statuses: Record<'guest' | 'anonymous', number[]> = { guest: [], anonymous: [] };
    for (const who of ['guest', 'anonymous'] as const) {
      for (let turn = 0; turn < 5; turn++)
        statuses[who].push((await as(who).get('/issues', { scope: 'all', search: 'some text' })).status);
      assert.equal((await as(who).get('/issues', { scope: 'all' })).status, 200);
    }
    // A minute may end in between: then two more succeed.
    for (const answers of Object.values(statuses)) {
      assert.ok(answers.includes(429));
      assert.ok(answers.filter((status) => status === 200).length <= 4);
    }
  } finally {
    await limits(0);
  }
});
