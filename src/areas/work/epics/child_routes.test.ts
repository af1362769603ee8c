import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addEpic } from '../../../../test/support/epics.ts';
import { type World, world } from '../../../../test/support/world.ts';

const childrenOf = ({ group }: World, { iid }: { iid: number }) => `/groups/${group.id}/epics/${iid}/epics`;
const titles = (body: { title: string }[]) => body.map(({ title }) => title);

async function notesOn({ db }: World, epic_id: number): Promise<string[]> {
  const rows = await db.selectFrom('notes').select('body').where('epic_id', '=', epic_id).orderBy('id').execute();
  return rows.map(({ body }) => body);
}

test('child epics are created, assigned, reordered and removed', async () => {
  const here = await world();
  const { as } = here;
  const [root, other] = [await addEpic(here, { title: 'root' }), await addEpic(here, { title: 'other' })];
  const path = childrenOf(here, root);
  const made = await as('planner').post(path, { title: 'made' });
  assert.deepEqual([made.status, made.body.parent_id, made.body.parent_iid], [201, root.id, root.iid]);
  assert.equal(made.body._links.parent, root._links.self);
  const adopted = await as('planner').post(`${path}/${other.id}`);
  assert.deepEqual([adopted.status, adopted.body.id, adopted.body.parent_id], [201, other.id, root.id]);
  assert.equal((await as('planner').post(`${path}/${other.id}`)).body.message, 'Epic(s) already assigned');
  const third = await as('planner').post(path, { title: 'third' });
  assert.deepEqual(titles((await as('guest').get(path)).body), ['third', 'other', 'made'], 'the newest child first');
  const moved = await as('planner').put(`${path}/${third.body.id}`, { move_before_id: other.id });
  assert.deepEqual([moved.status, titles(moved.body)], [200, ['other', 'third', 'made']]);
  const ahead = await as('planner').put(`${path}/${made.body.id}`, { move_after_id: other.id });
  assert.deepEqual(titles(ahead.body), ['made', 'other', 'third']);
  const between = await as('planner').put(`${path}/${third.body.id}`, {
    move_before_id: made.body.id,
    move_after_id: other.id,
  });
  assert.deepEqual(titles(between.body), ['made', 'third', 'other']);
  const wrong = await as('planner').put(`${path}/${third.body.id}`, {
    move_before_id: other.id,
    move_after_id: made.body.id,
  });
  assert.deepEqual([wrong.status, wrong.body.message], [400, 'Epic could not be moved!']);
  const taken = await as('planner').delete(`${path}/${other.id}`);
  assert.deepEqual([taken.status, taken.body.parent_id], [200, null]);
  assert.deepEqual(titles((await as('guest').get(path)).body), ['made', 'third']);
  assert.equal((await as('planner').delete(`${path}/${other.id}`)).status, 404);
  const [ofChild, ofRoot] = [await notesOn(here, other.id), await notesOn(here, root.id)];
  assert.deepEqual(ofChild, ['added epic &1 as parent epic', 'removed parent epic &1']);
  assert.deepEqual(ofRoot.slice(0, 2), ['added epic &3 as child epic', 'added epic &2 as child epic']);
  assert.equal(ofRoot.at(-1), 'removed child epic &2');
});

test('positions never run out', async () => {
  const here = await world();
  const { as } = here;
  const root = await addEpic(here, { title: 'root' });
  const path = childrenOf(here, root);
  const ids: number[] = [];
  for (const title of ['c', 'b', 'a']) ids.unshift((await as('owner').post(path, { title })).body.id);
  const order = [...ids];
  // Each move halves the gap after the first, which is exhausted after twenty.
  for (let turn = 0; turn < 25; turn++) {
    const last = order.pop()!;
    order.splice(1, 0, last);
    assert.equal((await as('owner').put(`${path}/${last}`, { move_before_id: order[0] })).status, 200);
  }
  assert.deepEqual(
    (await as('owner').get(path)).body.map(({ id }: { id: number }) => id),
    order,
  );
});

test('cycles, trees that are too deep and leaks of confidential epics are refused, and nothing changes', async () => {
  const here = await world();
  const { as } = here;
  const chain = [await addEpic(here, { title: 'level 1' })];
  for (const level of [2, 3, 4, 5, 6, 7])
    chain.push(await addEpic(here, { title: `level ${level}`, parent_id: chain.at(-1)!.id }));
  const [first, seventh] = [chain[0]!, chain[6]!];
  const hidden = await addEpic(here, { title: 'hidden', confidential: true });
  const open = await addEpic(here, { title: 'open' });
  const adopt = (parent: { iid: number }, child_id: number, persona: 'planner' | 'guest' = 'planner') =>
    as(persona).post(`${childrenOf(here, parent)}/${child_id}`);
  const cannot = 'This epic cannot be added.';
  for (const [parent, child, status, message] of [
    [first, first.id, 422, `${cannot} An epic cannot be added to itself.`],
    [seventh, first.id, 422, `${cannot} It is already an ancestor of the parent epic.`],
    [
      seventh,
      open.id,
      422,
      `${cannot} One or more epics would exceed the maximum depth (7) from its most distant ancestor.`,
    ],
    [hidden, open.id, 422, `${cannot} A non-confidential epic cannot be assigned to a confidential parent epic.`],
    [open, 999_999_999, 404, 'No matching epic found. Make sure that you are adding a valid epic URL.'],
  ] as const) {
    const refused = await adopt(parent, child);
    assert.deepEqual([refused.status, refused.body.message], [status, message]);
  }
  const tooDeep = await as('planner').post(childrenOf(here, seventh), { title: 'level 8' });
  assert.equal(tooDeep.status, 422);
  const count = await here.db.selectFrom('epics').select('id').where('group_id', '=', here.group.id).execute();
  assert.equal(count.length, 9, 'the child that was refused was not added either');
  const edited = await as('planner').put(`/groups/${here.group.id}/epics/${first.iid}`, { parent_id: seventh.id });
  assert.deepEqual(
    [edited.status, edited.body.message],
    [400, { parent: [`${cannot} It is already an ancestor of the parent epic.`] }],
  );
  assert.equal((await adopt(first, open.id, 'guest')).status, 403);
  const inside = await as('planner').post(childrenOf(here, hidden), { title: 'inside' });
  assert.equal(inside.body.confidential, true, 'what is in a confidential epic is so as well');
});

test('hidden children are not listed, and a hidden parent is not shown in its child', async () => {
  const here = await world();
  const { as } = here;
  const hidden = await addEpic(here, { title: 'hidden', confidential: true });
  const root = await addEpic(here, { title: 'root' });
  await addEpic(here, { title: 'shown', parent_id: root.id });
  await as('owner').put(`/groups/${here.group.id}/epics/${hidden.iid}`, { parent_id: root.id });
  assert.deepEqual(titles((await as('guest').get(childrenOf(here, root))).body), ['shown']);
  assert.deepEqual(titles((await as('planner').get(childrenOf(here, root))).body), ['hidden', 'shown']);
  const stranger = await here.person();
  assert.equal((await stranger.client.get(childrenOf(here, root))).status, 404);
  const notes = await as('guest').get(`/groups/${here.group.id}/epics/${root.id}/notes`);
  assert.ok(!JSON.stringify(notes.body).includes(`&${hidden.iid} `), 'nor in what was noted');
});

test('an epic of a group that cannot be changed becomes neither a child nor a parent', async () => {
  const here = await world();
  const owner = here.as('owner');
  const epic = await addEpic(here);
  const { id } = (await owner.post('/groups', { name: 'Elsewhere', path: `elsewhere-${here.group.id}` })).body;
  const foreign = (await owner.post(`/groups/${id}/epics`, { title: 'foreign' })).body;
  const set = (state: { archived: boolean; marked_for_deletion_at: string | null }) =>
    here.db.updateTable('namespaces').set(state).where('id', '=', id).execute();
  const missing = 'No matching epic found. Make sure that you are adding a valid epic URL.';
  for (const by of ['owner', 'admin'] as const)
    for (const state of [
      { archived: true, marked_for_deletion_at: null },
      { archived: false, marked_for_deletion_at: new Date().toISOString() },
    ]) {
      await set(state);
      const child = await here.as(by).post(`${childrenOf(here, epic)}/${foreign.id}`);
      assert.deepEqual([child.status, child.body.message], [404, missing]);
      const parent = await here.as(by).put(`/groups/${here.group.id}/epics/${epic.iid}`, { parent_id: foreign.id });
      assert.deepEqual([parent.status, parent.body.message], [400, { parent: [missing] }]);
    }
  await set({ archived: false, marked_for_deletion_at: null });
  assert.equal((await owner.post(`${childrenOf(here, epic)}/${foreign.id}`)).status, 201);
});

test('concurrent assignments do not create a cycle', async () => {
  const here = await world();
  const [one, other] = [await addEpic(here), await addEpic(here)];
  const answers = await Promise.all([
    here.as('owner').post(`${childrenOf(here, one)}/${other.id}`),
    here.as('owner').post(`${childrenOf(here, other)}/${one.id}`),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422]);
});
