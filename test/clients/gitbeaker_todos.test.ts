/** The TypeScript client @gitbeaker/rest: to-do items, events and notification settings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { type Persona, type World, world } from '../support/world.ts';
import { refusal } from './gitbeaker_refusal.ts';

const clientFor = ({ url, people }: World, persona: Persona) => new Gitlab({ host: url, token: people[persona].token });

test('to-do items are added, filtered, and marked as done one by one and all together', async () => {
  const here = await world();
  const [planner, guest] = [clientFor(here, 'planner'), clientFor(here, 'guest')];
  const { id } = here.project;
  const first = await planner.Issues.create(id, 'Prune', { assigneeIds: [here.people.guest.id] });
  const second = await planner.Issues.create(id, 'Mow');
  const epic = await planner.Epics.create(here.group.id, 'Orchard');
  const added = await guest.Issues.createTodo(id, second.iid);
  assert.deepEqual([added.action_name, added.target_type, added.target.title], ['marked', 'Issue', 'Mow']);
  // The client asks for `todos` where the API says `todo`.
  const { body: ofEpic } = await here.as('guest').post(`/groups/${here.group.id}/epics/${epic.iid}/todo`);
  assert.equal(ofEpic.target_type, 'Epic');

  const bodies = async (options: {
    action?: 'assigned';
    type?: 'Epic';
    projectId?: number;
    authorId?: number;
    state?: 'done';
  }) => (await guest.TodoLists.all(options)).map(({ body }) => body);
  assert.deepEqual(await bodies({}), ['Orchard', 'Mow', 'Prune']);
  assert.deepEqual(await bodies({ action: 'assigned' }), ['Prune']);
  assert.deepEqual(await bodies({ type: 'Epic' }), ['Orchard']);
  assert.deepEqual(await bodies({ projectId: id, authorId: here.people.planner.id }), ['Prune']);

  const done = await guest.TodoLists.done({ todoId: added.id });
  assert.equal(done.state, 'done');
  assert.deepEqual(await bodies({}), ['Orchard', 'Prune']);
  assert.equal((await refusal(planner.TodoLists.done({ todoId: ofEpic.id }))).status, 404);
  await guest.TodoLists.done();
  assert.deepEqual(await bodies({}), []);
  assert.equal((await bodies({ state: 'done' })).length, 3);
  assert.equal(first.iid, 1);
});

test('events are listed and polled, and notification settings are shown and changed', async () => {
  const here = await world();
  const guest = clientFor(here, 'guest');
  const projectId = here.project.id;
  for (const title of ['Prune', 'Mow']) await guest.Issues.create(projectId, title);
  const titles = async (options: object) =>
    (await guest.Events.all({ targetType: 'issue', ...options })).map((event) => event.target_title);
  assert.deepEqual(await titles({ projectId }), ['Mow', 'Prune']);
  assert.deepEqual(await titles({ userId: here.people.guest.id, sort: 'asc' }), ['Prune', 'Mow']);
  assert.deepEqual(await titles({}), ['Mow', 'Prune']);
  const [, first] = await guest.Events.all({ projectId, targetType: 'issue' });
  assert.deepEqual(await titles({ projectId, afterId: first!.id }), ['Mow']);

  assert.equal((await guest.NotificationSettings.show({ projectId })).level, 'global');
  const { level, events } = await guest.NotificationSettings.edit({
    groupId: here.group.id,
    level: 'custom',
    newNote: true,
  });
  const { new_note, new_issue } = events as Record<string, boolean>;
  assert.deepEqual([level, new_note, new_issue], ['custom', true, false]);
  assert.equal((await guest.NotificationSettings.edit({ level: 'watch' })).level, 'watch');
  assert.equal((await refusal(guest.NotificationSettings.edit({ level: 'global' }))).status, 400);
});
