/** The TypeScript client @gitbeaker/rest: to-do items, and quick actions in comments. */
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

  const bodies = async (options: { action?: 'assigned'; type?: 'Epic'; projectId?: number; authorId?: number; state?: 'done' }) =>
    (await guest.TodoLists.all(options)).map(({ body }) => body);
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
