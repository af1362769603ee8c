import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addEpic } from '../../../../test/support/epics.ts';
import { type World, world } from '../../../../test/support/world.ts';

const linksOf = ({ group }: World, { iid }: { iid: number }) => `/groups/${group.id}/epics/${iid}/related_epics`;

test('epics are linked, each shows the link from its side, and the link is deleted', async () => {
  const here = await world();
  const { as, group, db } = here;
  const [one, other] = [await addEpic(here, { title: 'one' }), await addEpic(here, { title: 'other' })];
  const target = { target_group_id: group.full_path, target_epic_iid: other.iid };
  const made = await as('planner').post(linksOf(here, one), { ...target, link_type: 'is_blocked_by' });
  assert.equal(made.status, 201);
  const { id, source_epic, target_epic, link_type } = made.body;
  assert.deepEqual([source_epic.id, target_epic.id, link_type], [other.id, one.id, 'blocks']);
  const [seen] = (await as('guest').get(linksOf(here, one))).body;
  assert.deepEqual([seen.title, seen.link_type, seen.related_epic_link_id], ['other', 'blocks', id]);
  const [back] = (await as('guest').get(linksOf(here, other))).body;
  assert.deepEqual([back.title, back.link_type], ['one', 'is_blocked_by']);
  const again = await as('planner').post(linksOf(here, other), { target_group_id: null, target_epic_iid: one.iid });
  assert.deepEqual([again.status, again.body.message], [409, 'Epic(s) already assigned']);
  const ended = await as('planner').delete(`${linksOf(here, other)}/${id}`);
  assert.deepEqual([ended.status, ended.body.id], [200, id]);
  assert.equal((await as('planner').delete(`${linksOf(here, other)}/${id}`)).status, 404);
  assert.deepEqual((await as('guest').get(linksOf(here, one))).body, []);
  const notes = await db.selectFrom('notes').select('body').where('epic_id', '=', one.id).orderBy('id').execute();
  assert.deepEqual(
    notes.map(({ body }) => body),
    ['marked this epic as blocked by &2', 'removed the relation with &2'],
  );
});

test('invalid links are refused, and hidden epics stay hidden', async () => {
  const here = await world();
  const { as, group, db } = here;
  const [epic, hidden] = [await addEpic(here), await addEpic(here, { confidential: true })];
  const path = linksOf(here, epic);
  const missing = 'No matching epic found. Make sure that you are adding a valid epic URL.';
  for (const [body, status, message] of [
    [{ target_group_id: group.id, target_epic_iid: epic.iid }, 422, '&1 cannot be added: cannot be related to itself'],
    [{ target_group_id: group.id, target_epic_iid: 99 }, 404, missing],
    [{ target_group_id: group.id, target_epic_iid: 2 ** 40 }, 404, missing],
    [{ target_group_id: 'no/such', target_epic_iid: 1 }, 404, '404 Group Not Found'],
    [{ target_group_id: group.id }, 400, 'target_epic_iid is missing'],
    [
      { target_group_id: group.id, target_epic_iid: 1, link_type: 'likes' },
      400,
      'link_type does not have a valid value',
    ],
  ] as const) {
    const refused = await as('planner').post(path, body);
    assert.deepEqual([refused.status, refused.body.message], [status, message]);
  }
  assert.equal((await as('guest').post(path, { target_group_id: group.id, target_epic_iid: hidden.iid })).status, 403);
  assert.equal(
    (await as('planner').post(path, { target_group_id: group.id, target_epic_iid: hidden.iid })).status,
    201,
  );
  assert.deepEqual((await as('guest').get(path)).body, []);
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', group.id).execute();
  const stranger = await here.person();
  const own = await stranger.client.post('/groups', {
    name: `own-${stranger.username}`,
    path: `own-${stranger.username}`,
  });
  const foreign = await stranger.client.post(`/groups/${own.body.id}/epics`, { title: 'Mine' });
  assert.equal(foreign.status, 201);
  const reaching = await stranger.client.post(`/groups/${own.body.id}/epics/1/related_epics`, {
    target_group_id: group.id,
    target_epic_iid: epic.iid,
  });
  assert.deepEqual(
    [reaching.status, reaching.body.message],
    [403, "Couldn't link epic. You must have at least the Planner role in both groups."],
  );
});

test('a link to an epic of an archived group is neither created nor deleted', async () => {
  const here = await world();
  const owner = here.as('owner');
  const epic = await addEpic(here);
  const { id } = (await owner.post('/groups', { name: 'Elsewhere', path: `elsewhere-${here.group.id}` })).body;
  const [linked, other] = [
    (await owner.post(`/groups/${id}/epics`, { title: 'linked' })).body,
    (await owner.post(`/groups/${id}/epics`, { title: 'other' })).body,
  ];
  const path = linksOf(here, epic);
  const link = await owner.post(path, { target_group_id: id, target_epic_iid: linked.iid });
  assert.equal(link.status, 201);
  const archive = (archived: boolean) =>
    here.db.updateTable('namespaces').set({ archived }).where('id', '=', id).execute();
  await archive(true);
  const refusal = [403, "Couldn't link epic. You must have at least the Planner role in both groups."];
  const created = await owner.post(path, { target_group_id: id, target_epic_iid: other.iid });
  assert.deepEqual([created.status, created.body.message], refusal);
  const deleted = await owner.delete(`${path}/${link.body.id}`);
  assert.deepEqual([deleted.status, deleted.body.message], refusal);
  await archive(false);
  assert.equal((await owner.delete(`${path}/${link.body.id}`)).status, 200);
});
