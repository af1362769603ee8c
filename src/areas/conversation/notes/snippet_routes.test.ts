import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type World, world } from '../../../../test/support/world.ts';

const files = [{ file_path: 'a.txt', content: 'apples\n' }];

/** A world with a snippet of the reporter. */
async function filled(): Promise<{ here: World; id: number; at: string }> {
  const here = await world();
  const url = `/projects/${here.project.id}/snippets`;
  const { status, body } = await here.as('reporter').post(url, { title: 'Fruit', files });
  assert.equal(status, 201, JSON.stringify(body));
  return { here, id: body.id, at: `${url}/${body.id}` };
}

const bodiesOf = ({ body }: { body: { body: string }[] }) => body.map((note) => note.body);

test('a snippet is commented on, and its comments are changed and deleted', async () => {
  const { here, id, at } = await filled();
  const { as, people, db, project } = here;
  const added = await as('guest').post(`${at}/notes`, { body: `Ripe, @${people.planner.username}? See #1\n/close` });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const { body, noteable_id, noteable_type, noteable_iid, project_id, resolvable, type } = added.body;
  assert.deepEqual(
    [body, noteable_id, noteable_type, noteable_iid, project_id, resolvable, type],
    [`Ripe, @${people.planner.username}? See #1\n/close`, id, 'Snippet', null, project.id, false, null],
  );
  const mentioned = await db
    .selectFrom('user_mentions')
    .select(['user_id', 'note_id'])
    .where('snippet_id', '=', id)
    .execute();
  assert.deepEqual(mentioned, [{ user_id: people.planner.id, note_id: added.body.id }]);
  const { body: events } = await as('guest').get(`/users/${people.guest.id}`);
  assert.equal(events.id, people.guest.id);
  const event = db.selectFrom('events').select(['action', 'target_type']).where('target_id', '=', added.body.id);
  assert.deepEqual(await event.where('target_type', '=', 'Note').execute(), [
    { action: 'commented', target_type: 'Note' },
  ]);

  const url = `${at}/notes/${added.body.id}`;
  assert.equal((await as('guest').put(url, { body: 'Ripe' })).body.body, 'Ripe');
  assert.equal((await as('developer').put(url, { body: 'Never' })).status, 403);
  assert.deepEqual(bodiesOf(await as('developer').get(`${at}/notes`)), ['Ripe']);
  assert.equal((await as('anonymous').get(`${at}/notes`)).status, 401);
  assert.deepEqual((await as('outsider').get(`${at}/notes`)).body, { message: '404 Project Not Found' });
  assert.equal((await as('maintainer').delete(url)).status, 204);
  assert.deepEqual((await as('guest').get(`${at}/notes`)).body, []);
  assert.deepEqual((await as('guest').get(`${at.replace(/\d+$/, '987654')}/notes`)).body, {
    message: '404 Snippet Not Found',
  });
});

test('threads are started and replied to, but single comments take no reply', async () => {
  const { here, at } = await filled();
  const { as } = here;
  const { status, body: thread } = await as('guest').post(`${at}/discussions`, { body: 'One' });
  assert.equal(status, 201);
  const of = `${at}/discussions/${thread.id}`;
  assert.equal((await as('developer').post(`${of}/notes`, { body: 'Two' })).body.type, 'DiscussionNote');
  assert.deepEqual(bodiesOf(await as('guest').get(`${of}/notes`)), ['One', 'Two']);
  const { body: single } = await as('guest').post(`${at}/notes`, { body: 'Alone' });
  const discussions = (await as('guest').get(`${at}/discussions`)).body;
  assert.deepEqual(
    discussions.map(({ individual_note }: { individual_note: boolean }) => individual_note),
    [false, true],
  );
  const refused = await as('guest').post(`${at}/discussions/${discussions[1].id}/notes`, { body: 'Reply' });
  assert.deepEqual(
    [refused.status, refused.body],
    [400, { message: '400 Bad request - Discussion can not be replied to.' }],
  );
  assert.equal((await as('guest').get(`${at}/notes/${single.id}`)).body.type, null);
  assert.equal((await as('guest').put(`${of}/notes/${thread.notes[0].id}`, { body: 'First' })).body.body, 'First');
  assert.equal((await as('guest').delete(`${of}/notes/${thread.notes[0].id}`)).status, 204);
  assert.equal((await as('guest').get(of)).body.notes.length, 1);
});

test('snippets and comments on them take reactions, and everything goes with the snippet', async () => {
  const { here, id, at } = await filled();
  const { as, db, project } = here;
  const { body: award } = await as('guest').post(`${at}/award_emoji`, { name: 'thumbsup' });
  assert.deepEqual([award.awardable_type, award.awardable_id, award.name], ['Snippet', id, 'thumbsup']);
  assert.equal((await as('guest').post(`${at}/award_emoji`, { name: 'thumbsdown' })).status, 201);
  assert.deepEqual(
    (await as('guest').get(`${at}/award_emoji`)).body.map(({ name }: { name: string }) => name),
    ['thumbsdown'],
  );
  const { body: note } = await as('guest').post(`${at}/notes`, { body: 'Ripe' });
  assert.equal(
    (await as('developer').post(`${at}/notes/${note.id}/award_emoji`, { name: 'tada' })).body.awardable_type,
    'Note',
  );
  assert.equal((await as('outsider').get(`${at}/award_emoji`)).status, 404);

  await as('owner').post(`/projects/${project.id}/archive`);
  assert.equal((await as('guest').post(`${at}/notes`, { body: 'Late' })).status, 403);
  assert.equal((await as('guest').post(`${at}/award_emoji`, { name: 'tada' })).status, 403);
  assert.deepEqual(bodiesOf(await as('guest').get(`${at}/notes`)), ['Ripe']);
  await as('owner').post(`/projects/${project.id}/unarchive`);
  assert.equal((await as('reporter').delete(at)).status, 204);
  assert.deepEqual(await db.selectFrom('notes').select('id').where('id', '=', note.id).execute(), []);
  assert.deepEqual(await db.selectFrom('award_emoji').select('id').where('snippet_id', '=', id).execute(), []);
});
