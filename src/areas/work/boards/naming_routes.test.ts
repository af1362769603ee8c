import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sent } from '../../../../test/support/sent.ts';
import { untilLockWaits } from '../../../../test/support/waiting.ts';
import { type World, world } from '../../../../test/support/world.ts';

/** A board of the project of a world, and ways to add what it can name. */
async function boardIn({ as, project }: World) {
  const parent = `/projects/${project.id}`;
  const addBoard = async () =>
    `${parent}/boards/${(await sent(as('planner').post(`${parent}/boards`, { name: 'Kanban' }))).id}`;
  return {
    board: await addBoard(),
    addBoard,
    addLabel: (name: string) => sent(as('owner').post(`${parent}/labels`, { name, color: '#aabbcc' })),
    addMilestone: (title: string) => sent(as('owner').post(`${parent}/milestones`, { title })),
  };
}

test('boards keep their lists and scopes when labels and milestones are promoted', async () => {
  const here = await world();
  const { as, project, group } = here;
  const { board, addBoard, addLabel, addMilestone } = await boardIn(here);
  const twins = await addBoard();
  const [ripe, autumn] = [await addLabel('ripe'), await addMilestone('Autumn')];
  const shared = await sent(as('owner').post(`/groups/${group.id}/labels`, { name: 'ripe', color: '#aabbcc' }));
  for (const list of [{ label_id: ripe.id }, { milestone_id: autumn.id }])
    await sent(as('planner').post(`${board}/lists`, list));
  for (const label_id of [shared.id, ripe.id]) await sent(as('planner').post(`${twins}/lists`, { label_id }));
  await sent(as('planner').put(board, { labels: 'ripe', milestone_id: autumn.id }));
  await sent(as('owner').put(`/projects/${project.id}/labels/${ripe.id}/promote`));
  const { id } = await sent(as('owner').post(`/projects/${project.id}/milestones/${autumn.id}/promote`));
  const { lists, labels, milestone } = (await as('guest').get(board)).body;
  assert.deepEqual(
    lists.map(
      (list: { label: { id: number } | null; milestone?: { id: number } }) => list.label?.id ?? list.milestone?.id,
    ),
    [shared.id, id],
  );
  assert.deepEqual([labels.map((label: { id: number }) => label.id), milestone.id], [[shared.id], id]);
  assert.deepEqual(
    (await as('guest').get(twins)).body.lists.map((list: { label: { id: number } }) => list.label.id),
    [shared.id],
  );
});

test('a label or a milestone deleted while a board is about to use it is not found', async () => {
  const here = await world({});
  const { as, db } = here;
  const { board, addLabel, addMilestone } = await boardIn(here);
  const [label, milestone, kept] = [await addLabel('ripe'), await addMilestone('Autumn'), await addLabel('kept')];
  const list = `${board}/lists/${(await sent(as('planner').post(`${board}/lists`, { label_id: kept.id }))).id}`;
  /** Sends a request that has to wait until something is deleted. */
  const during = async (
    table: 'labels' | 'milestones',
    id: number,
    send: () => Promise<{ status: number; body: unknown }>,
  ) => {
    const waiting = await db.transaction().execute(async (tx) => {
      await tx.deleteFrom(table).where('id', '=', id).execute();
      const request = send();
      await untilLockWaits(db);
      return { request };
    });
    const { status, body } = await waiting.request;
    return [status, body];
  };
  const error = (text: string) => [400, { message: { error: text } }];
  assert.deepEqual(
    await during('labels', label.id, () => as('planner').post(`${board}/lists`, { label_id: label.id })),
    error('Label not found!'),
  );
  assert.deepEqual(
    await during('milestones', milestone.id, () => as('planner').put(board, { milestone_id: milestone.id })),
    [400, { message: { milestone: ['does not exist'] } }],
  );
  const collapsed = await during('labels', kept.id, () => as('planner').put(list, { position: 0, collapsed: true }));
  assert.equal(collapsed[0], 404);
  assert.deepEqual((await as('guest').get(board)).body.lists, []);
});
