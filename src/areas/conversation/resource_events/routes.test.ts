import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../test/support/world.ts';
import { theEpic } from '../../../access/index.ts';
import { recordLabelEvents, recordStateEvent } from './index.ts';

test('each added or removed label is an event, even if the label is deleted later', async () => {
  const { as, project, people } = await world();
  const base = `/projects/${project.id}`;
  const bug = (await as('planner').post(`${base}/labels`, { name: 'bug', color: '#ff0000' })).body;
  await as('planner').post(`${base}/labels`, { name: 'ripe', color: '#00ff00' });
  const issue = (await as('planner').post(`${base}/issues`, { title: 'Ripen', labels: 'bug' })).body;
  const url = `${base}/issues/${issue.iid}/resource_label_events`;
  await as('reporter').put(`${base}/issues/${issue.iid}`, { add_labels: 'ripe', remove_labels: 'bug' });
  const events = (await as('guest').get(url)).body;
  assert.deepEqual(
    events.map(({ action, label, user }: { action: string; label: { name: string }; user: { id: number } }) => [
      action,
      label.name,
      user.id,
    ]),
    [
      ['add', 'bug', people.planner.id],
      ['add', 'ripe', people.reporter.id],
      ['remove', 'bug', people.reporter.id],
    ],
  );
  const { subscribed: _, priority: __, is_project_label: ___, ...label } = bug;
  assert.deepEqual(events[0], {
    id: events[0].id,
    user: issue.author,
    created_at: events[0].created_at,
    resource_type: 'Issue',
    resource_id: issue.id,
    label,
    action: 'add',
  });
  assert.deepEqual((await as('guest').get(`${url}/${events[1].id}`)).body, events[1]);
  assert.deepEqual((await as('guest').get(url, { per_page: 1, page: 3 })).body, [events[2]]);
  const missing = await as('guest').get(`${url}/0`);
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 ResourceLabelEvent Not Found' }]);

  await as('planner').delete(`${base}/labels/bug`);
  assert.equal((await as('guest').get(`${url}/${events[0].id}`)).body.label, null);
});

test('changes of state, milestone, weight and iteration have events of their own', async () => {
  const { as, project, people } = await world();
  const base = `/projects/${project.id}`;
  const issue = (await as('planner').post(`${base}/issues`, { title: 'Ripen' })).body;
  const url = `${base}/issues/${issue.iid}`;
  const milestone = (await as('planner').post(`${base}/milestones`, { title: 'v1' })).body;
  await as('planner').put(url, { milestone_id: milestone.id });
  await as('planner').put(url, { state_event: 'close' });
  await as('planner').put(url, { milestone_id: 0, weight: 5 });
  await as('planner').put(url, { state_event: 'reopen' });

  const about = { resource_type: 'Issue', resource_id: issue.id };
  const of = async (kind: string) =>
    (await as('guest').get(`${url}/resource_${kind}_events`)).body.map(
      ({ id, created_at, user, ...received }: { id: number; created_at: string; user: { id: number } }) => {
        assert.ok(id > 0 && created_at && user.id === people.planner.id);
        return received;
      },
    );
  const source = { source_commit: null, source_merge_request_id: null };
  assert.deepEqual(await of('state'), [
    { ...about, ...source, state: 'closed' },
    { ...about, ...source, state: 'reopened' },
  ]);
  assert.deepEqual(await of('milestone'), [
    { ...about, milestone, action: 'add', state: 'opened' },
    { ...about, milestone, action: 'remove', state: 'closed' },
  ]);
  assert.deepEqual(await of('weight'), [{ issue_id: issue.id, weight: 5 }]);
  assert.deepEqual(await of('iteration'), []);
  assert.equal(
    (await as('guest').get(`${url}/resource_iteration_events/1`)).body.message,
    '404 ResourceIterationEvent Not Found',
  );
});

test('events of hidden issues and epics are not found', async () => {
  const { as, project } = await world();
  const base = `/projects/${project.id}/issues`;
  const { iid } = (await as('planner').post(base, { title: 'Secret', confidential: true })).body;
  for (const kind of ['label', 'state', 'milestone', 'weight', 'iteration']) {
    const url = `${base}/${iid}/resource_${kind}_events`;
    assert.equal((await as('planner').get(url)).status, 200);
    assert.equal((await as('guest').get(url)).status, 404);
    assert.equal((await as('outsider').get(url)).status, 404);
    assert.equal((await as('anonymous').get(url)).status, 404);
    assert.equal((await as('planner').get(`${base}/99/resource_${kind}_events`)).status, 404);
  }
});

test('an epic has label and state events', async () => {
  const { as, group, db, people } = await world();
  const { id: epic_id } = await db
    .insertInto('epics')
    .values({ group_id: group.id, iid: 7, title: 'Orchard' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const label = (await as('planner').post(`/groups/${group.id}/labels`, { name: 'bug', color: 'red' })).body;
  const actor = { user_id: people.owner.id, created_at: '2020-01-01T00:00:00.000Z' };
  await recordLabelEvents(db, theEpic(epic_id), actor, { added: [label.id], removed: [] });
  await recordStateEvent(db, theEpic(epic_id), { user_id: null }, 'closed');
  const url = `/groups/${group.id}/epics/${epic_id}`;
  const [labelled] = (await as('guest').get(`${url}/resource_label_events`)).body;
  assert.deepEqual(
    [labelled.resource_type, labelled.resource_id, labelled.label.name, labelled.action, labelled.created_at],
    ['Epic', epic_id, 'bug', 'add', actor.created_at],
  );
  const shown = await as('guest').get(`${url}/resource_label_events/${labelled.id}`);
  assert.deepEqual(shown.body, labelled);
  const [closed] = (await as('guest').get(`${url}/resource_state_events`)).body;
  assert.deepEqual(
    [closed.resource_type, closed.resource_id, closed.state, closed.user],
    ['Epic', epic_id, 'closed', null],
  );
  assert.equal((await as('outsider').get(`${url}/resource_label_events`)).status, 404);
});
