import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../test/support/issues.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';

async function addEpic({ as, group }: World, epic: Record<string, unknown> = {}): Promise<{ id: number; iid: number }> {
  const answer = await as('owner').post(`/groups/${group.id}/epics`, { title: 'An epic', ...epic });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

test('an epic is discussed like an issue, by its id and under both paths', async () => {
  const here = await world();
  const { as, group, db, people } = here;
  const epic = await addEpic(here);
  const at = `/groups/${group.id}/epics/${epic.id}`;
  const begun = await as('guest').post(`${at}/discussions`, { body: `Hello @${people.planner.username}.` });
  assert.equal(begun.status, 201);
  const [note] = begun.body.notes;
  assert.deepEqual(
    [note.noteable_type, note.noteable_id, note.noteable_iid, note.project_id],
    ['Epic', epic.id, null, null],
  );
  const answer = await as('planner').post(`${at}/discussions/${begun.body.id}/notes`, { body: 'Hello.' });
  assert.equal(answer.status, 201);
  assert.deepEqual((await as('guest').get(`/groups/${group.id}/-/epics/${epic.id}/discussions`)).body, [
    { ...begun.body, notes: [note, answer.body] },
  ]);
  const comment = (
    await as('planner').post(`/groups/${group.id}/-/epics/${epic.id}/notes`, { body: 'Among us.', internal: true })
  ).body;
  assert.deepEqual((await as('guest').get(`${at}/notes`)).body, []);
  assert.deepEqual((await as('planner').get(`${at}/notes`)).body, [comment]);
  assert.equal((await as('guest').put(`${at}/discussions/x/notes/${answer.body.id}`, { body: 'x' })).status, 403);
  assert.equal((await as('maintainer').put(`${at}/discussions/x/notes/${answer.body.id}`, { body: 'x' })).status, 200);
  assert.equal((await as('guest').delete(`${at}/discussions/x/notes/${note.id}`)).status, 204);
  const { user_notes_count } = await db
    .selectFrom('epics')
    .select('user_notes_count')
    .where('id', '=', epic.id)
    .executeTakeFirstOrThrow();
  assert.equal(user_notes_count, 2);

  for (const path of ['notes', 'discussions']) {
    const missing = await as('guest').get(`/groups/${group.id}/epics/${epic.id + 1000}/${path}`);
    assert.deepEqual([missing.status, missing.body.message], [404, '404 Epic Not Found']);
    assert.equal((await as('outsider').get(`${at}/${path}`)).body.message, '404 Group Not Found');
    assert.equal((await as('guest').get(`/groups/${group.id}/epics/x/${path}`)).body.message, 'epic_id is invalid');
  }
});

test('quick actions work on epics', async () => {
  const here = await world();
  const epic = await addEpic(here);
  const at = `/groups/${here.group.id}/epics`;
  const answer = await here.as('planner').post(`${at}/${epic.id}/notes`, { body: 'Done.\n/close' });
  assert.deepEqual([answer.status, answer.body.body], [201, 'Done.']);
  assert.equal((await here.as('guest').get(`${at}/${epic.iid}`)).body.state, 'closed');
  assert.equal((await here.as('planner').post(`${at}/${epic.id}/notes`, { body: '/reopen' })).status, 202);
});

test('issues and epics show where they were mentioned to users who may read the source', async () => {
  const here = await world();
  const { as, group, project } = here;
  const epic = await addEpic(here);
  const other = await addEpic(here, { description: `After &${epic.iid}` });
  const secret = await addEpic(here, { confidential: true, description: `After &${epic.iid}` });
  const issue = await addIssue(here, { description: `Part of &${epic.iid}` });
  await as('guest').post(`/groups/${group.id}/epics/${epic.id}/notes`, {
    body: `See ${project.full_path}#${issue.iid} and #${issue.iid}`,
  });
  const noted = async (path: string, persona: Persona) =>
    (await as(persona).get(`${path}/notes`, { activity_filter: 'only_activity', sort: 'asc' })).body.map(
      ({ body }: { body: string }) => body,
    );
  const onEpic = `/groups/${group.id}/epics/${epic.id}`;
  const seen = [`mentioned in epic &${other.iid}`, `mentioned in issue ${project.full_path}#${issue.iid}`];
  assert.deepEqual(await noted(onEpic, 'guest'), seen);
  assert.deepEqual(await noted(onEpic, 'planner'), [seen[0], `mentioned in epic &${secret.iid}`, seen[1]]);
  assert.deepEqual(await noted(`/projects/${project.id}/issues/${issue.iid}`, 'guest'), [
    `mentioned in epic &${epic.iid}`,
  ]);
});
