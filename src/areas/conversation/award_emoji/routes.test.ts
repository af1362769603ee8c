import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addEpic } from '../../../../test/support/epics.ts';
import { addIssue } from '../../../../test/support/issues.ts';
import { performQueued } from '../../../../test/support/jobs.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import { removeUser } from '../../people/users/index.ts';

type Awardable = { path: string; parent: string; awardable_id: number; awardable_type: string };

/** An issue, an epic and a note on each, with the paths of their reactions. */
async function places(here: World): Promise<Awardable[]> {
  const { as, project, group } = here;
  const [issue, epic] = [await addIssue(here), await addEpic(here)];
  const [ofIssue, ofEpic] = [`/projects/${project.id}/issues/${issue.iid}`, `/groups/${group.id}/epics/${epic.iid}`];
  const onIssue = await as('owner').post(`${ofIssue}/notes`, { body: 'Good' });
  const onEpic = await as('owner').post(`/groups/${group.id}/epics/${epic.id}/notes`, { body: 'Good' });
  assert.deepEqual([onIssue.status, onEpic.status], [201, 201]);
  const note = (parent: string, { body }: { body: { id: number } }) => ({
    path: `${parent}/notes/${body.id}/award_emoji`,
    parent,
    awardable_id: body.id,
    awardable_type: 'Note',
  });
  return [
    { path: `${ofIssue}/award_emoji`, parent: ofIssue, awardable_id: issue.id, awardable_type: 'Issue' },
    { path: `${ofEpic}/award_emoji`, parent: ofEpic, awardable_id: epic.id, awardable_type: 'Epic' },
    note(ofIssue, onIssue),
    note(ofEpic, onEpic),
  ];
}

const names = (body: { name: string }[]) => body.map(({ name }) => name);

test('reactions to issues, epics and notes are added and removed', async () => {
  const here = await world();
  const { as, people } = here;
  for (const { path, awardable_id, awardable_type } of await places(here)) {
    const given = await as('guest').post(path, { name: 'tada' });
    assert.equal(given.status, 201, path);
    const { id, created_at, updated_at, user, ...award } = given.body;
    assert.deepEqual([user.id, created_at], [people.guest.id, updated_at]);
    assert.deepEqual(award, { name: 'tada', awardable_id, awardable_type, url: null });
    await as('owner').post(path, { name: 'tada' });
    assert.deepEqual(names((await as('reporter').get(path)).body), ['tada', 'tada']);
    assert.deepEqual((await as('reporter').get(`${path}/${id}`)).body, given.body);
    const foreign = await as('owner').delete(`${path}/${id}`);
    assert.deepEqual([foreign.status, foreign.body.message], [401, '401 Unauthorized']);
    const stale = await as('guest').delete(
      `${path}/${id}`,
      {},
      { headers: { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' } },
    );
    assert.equal(stale.status, 412);
    assert.equal((await as('guest').delete(`${path}/${id}`)).status, 204);
    assert.equal((await as('guest').delete(`${path}/${id}`)).status, 404);
    const [left] = (await as('guest').get(path)).body;
    assert.equal(left.user.id, people.owner.id);
    assert.equal((await as('admin').delete(`${path}/${left.id}`)).status, 204);
    assert.deepEqual((await as('guest').get(path)).body, []);
  }
});

test('a vote replaces the opposite one and counts once', async () => {
  const here = await world();
  const { as } = here;
  for (const { path, parent, awardable_type } of await places(here)) {
    await as('guest').post(path, { name: 'thumbsup' });
    await as('planner').post(path, { name: '+1' });
    await as('guest').post(path, { name: 'heart' });
    assert.deepEqual(names((await as('guest').get(path)).body), ['thumbsup', 'thumbsup', 'heart']);
    await as('guest').post(path, { name: '-1' });
    assert.deepEqual(names((await as('guest').get(path)).body), ['thumbsup', 'heart', 'thumbsdown']);
    if (awardable_type === 'Note') continue;
    const { upvotes, downvotes } = (await as('guest').get(parent)).body;
    assert.deepEqual([upvotes, downvotes], [1, 1]);
  }
});

test('concurrent opposite votes leave one', async () => {
  const here = await world();
  const [{ path }] = (await places(here)) as [Awardable];
  for (let turn = 0; turn < 4; turn++) {
    await Promise.all(['thumbsup', 'thumbsdown'].map((name) => here.as('guest').post(path, { name })));
    assert.equal((await here.as('guest').get(path)).body.length, 1);
  }
});

test('unknown emoji, duplicate reactions and system notes are refused as not found', async () => {
  const here = await world();
  const { as, db } = here;
  const all = await places(here);
  for (const { path } of all) {
    await as('guest').post(path, { name: 'eyes' });
    for (const [persona, body, status, message] of [
      ['guest', { name: ':eyes:' }, 404, '404 Award Emoji Name is not a valid emoji name Not Found'],
      ['guest', { name: 'constructor' }, 404, '404 Award Emoji Name is not a valid emoji name Not Found'],
      ['guest', { name: '' }, 404, '404 Award Emoji Name is not a valid emoji name Not Found'],
      ['guest', { name: 'eyes' }, 404, '404 Award Emoji Name has already been taken Not Found'],
      ['guest', {}, 400, 'name is missing'],
      ['anonymous', { name: 'eyes' }, 401, '401 Unauthorized'],
    ] as [Persona, object, number, string][]) {
      const refused = await as(persona).post(path, { ...body });
      assert.deepEqual([refused.status, refused.body.message], [status, message], path);
    }
    assert.equal((await as('outsider').post(path, { name: 'eyes' })).status, 404);
    assert.equal((await as('outsider').get(path)).status, 404);
    assert.equal((await as('guest').get(`${path}/999999999`)).body.message, '404 Not found');
    assert.equal((await as('guest').get(path)).body.length, 1);
  }
  const [issue, epic, noteOnIssue] = all as [Awardable, Awardable, Awardable, Awardable];
  const elsewhere = noteOnIssue.path.replace(/.*(?=\/notes)/, epic.parent);
  assert.equal((await as('guest').get(elsewhere)).status, 404, 'a note of another');
  await as('owner').put(issue.parent, { title: 'Changed' });
  const system = await db
    .selectFrom('notes')
    .select('id')
    .where('issue_id', '=', issue.awardable_id)
    .where('system', '=', true)
    .executeTakeFirstOrThrow();
  const onSystem = await as('owner').post(`${issue.parent}/notes/${system.id}/award_emoji`, { name: 'eyes' });
  assert.deepEqual([onSystem.status, onSystem.body.message], [404, '404 Award Emoji Not Found']);
  assert.equal(
    (await as('guest').get(`${issue.parent.replace(/\d+$/, 'x')}/award_emoji`)).body.message,
    'issue_iid is invalid',
  );
});

test('confidential issues and internal notes are not found', async () => {
  const here = await world();
  const { as, project } = here;
  const secret = await addIssue(here, { confidential: true });
  const open = await addIssue(here);
  const unknown = await as('guest').post(`/projects/${project.id}/issues/99/award_emoji`, { name: 'eyes' });
  assert.deepEqual([unknown.status, unknown.body.message], [404, '404 Award Emoji Not Found']);
  const hidden = await as('guest').post(`/projects/${project.id}/issues/${secret.iid}/award_emoji`, { name: 'eyes' });
  assert.deepEqual([hidden.status, hidden.body], [unknown.status, unknown.body]);
  const note = (
    await as('planner').post(`/projects/${project.id}/issues/${open.iid}/notes`, { body: 'Between us', internal: true })
  ).body;
  const path = `/projects/${project.id}/issues/${open.iid}/notes/${note.id}/award_emoji`;
  assert.equal((await as('guest').post(path, { name: 'eyes' })).status, 404);
  assert.equal((await as('planner').post(path, { name: 'eyes' })).status, 201);
});

test('any signed-in user can react in a public project, but only members if the discussion is locked', async () => {
  const here = await world();
  const { as, db, project, group } = here;
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', group.id).execute();
  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  const all = await places(here);
  const [issue] = all as [Awardable];
  for (const { path } of all) {
    assert.equal((await as('outsider').post(path, { name: 'eyes' })).status, 201, path);
    assert.equal((await as('anonymous').get(path)).body.length, 1, path);
  }
  await as('owner').put(issue.parent, { discussion_locked: true });
  for (const { path } of all.filter(({ parent }) => parent === issue.parent)) {
    const refused = await as('outsider').post(path, { name: 'heart' });
    assert.deepEqual([refused.status, refused.body.message], [404, '404 Award Emoji Not Found']);
    assert.equal((await as('guest').post(path, { name: 'heart' })).status, 201);
  }
  await db.updateTable('projects').set({ archived: true }).where('id', '=', project.id).execute();
  assert.equal((await as('owner').post(issue.path, { name: 'heart' })).status, 403);
  assert.equal((await as('anonymous').get(issue.path)).status, 200);
});

test('reacting to an issue resolves the to-do item on it', async () => {
  const here = await world();
  const issue = await addIssue(here, { description: `@${here.people.guest.username} look` });
  const pending = async () =>
    (await here.db.selectFrom('todos').select('state').where('issue_id', '=', issue.id).execute()).map(
      ({ state }) => state,
    );
  assert.deepEqual(await pending(), ['pending']);
  await here.as('guest').post(`/projects/${here.project.id}/issues/${issue.iid}/award_emoji`, { name: 'eyes' });
  assert.deepEqual(await pending(), ['done']);
});

test('the reactions of a deleted user are deleted and no longer count', async () => {
  const here = await world();
  const { as, people } = here;
  const issue = await addIssue(here);
  const path = `/projects/${here.project.id}/issues/${issue.iid}`;
  for (const persona of ['guest', 'reporter'] as const)
    await as(persona).post(`${path}/award_emoji`, { name: 'thumbsup' });
  assert.equal((await as('owner').get(path)).body.upvotes, 2);
  assert.equal((await as('admin').delete(`/users/${people.guest.id}`)).status, 204);
  await performQueued(here.services, [removeUser]);
  const awards = await as('owner').get(`${path}/award_emoji`);
  assert.deepEqual(
    awards.body.map(({ user }: { user: { id: number } }) => user.id),
    [people.reporter.id],
  );
  assert.equal((await as('owner').get(path)).body.upvotes, 1);
});
