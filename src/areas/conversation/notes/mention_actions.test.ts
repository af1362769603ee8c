import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../test/support/issues.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';

const at = ({ project }: World, { iid }: { iid: number }) => `/projects/${project.id}/issues/${iid}`;

/** Bodies of the system notes that a persona sees, oldest first. */
async function noted(
  here: World,
  issue: { iid: number },
  by: Persona = 'guest',
  project_id = here.project.id,
): Promise<string[]> {
  const notes = await here
    .as(by)
    .get(`/projects/${project_id}/issues/${issue.iid}/notes`, { activity_filter: 'only_activity', sort: 'asc' });
  return notes.body.map(({ body }: { body: string }) => body);
}

const mentionedOn = async ({ db }: World, issue: { id: number }) =>
  (
    await db
      .selectFrom('user_mentions')
      .innerJoin('users', 'users.id', 'user_id')
      .select(['username', 'note_id'])
      .where('issue_id', '=', issue.id)
      .orderBy('username')
      .execute()
  ).map(({ username, note_id }) => [username, note_id]);

const todosOn = ({ db }: World, issue: { id: number }) =>
  db
    .selectFrom('todos')
    .innerJoin('users', 'users.id', 'user_id')
    .select(['username', 'action_name', 'note_id'])
    .where('issue_id', '=', issue.id)
    .orderBy('username')
    .execute();

test('an issue mentioned in a comment or description gets one system note per source', async () => {
  const here = await world();
  const target = await addIssue(here);
  const source = await addIssue(here, { description: `Like #${target.iid}, and see #999.` });
  const comments = `${at(here, source)}/notes`;
  await here
    .as('guest')
    .post(comments, { body: `Again #${target.iid}, \`#${target.iid}\`, and this one: #${source.iid}.` });
  assert.deepEqual(await noted(here, target), [`mentioned in issue #${source.iid}`]);
  assert.deepEqual(await noted(here, source), []);
  await here.as('guest').post(`${at(here, target)}/notes`, { body: `Back to ${here.project.full_path}#${source.iid}` });
  assert.deepEqual(await noted(here, source), [`mentioned in issue #${target.iid}`]);
  const [note] = (await here.as('guest').get(`${at(here, source)}/notes`, { activity_filter: 'only_activity' })).body;
  assert.deepEqual([note.system, note.author.username], [true, here.people.guest.username]);
});

test('a mention is hidden from users who may not read its source', async () => {
  const here = await world();
  const target = await addIssue(here);
  const secret = await addIssue(here, { confidential: true, description: `About #${target.iid}` });
  const said = [`mentioned in issue #${secret.iid}`];
  assert.deepEqual(await noted(here, target, 'planner'), said);
  assert.deepEqual(await noted(here, target, 'guest'), []);
  assert.deepEqual((await here.as('guest').get(`${at(here, target)}/discussions`)).body, []);
  const page = await here.as('guest').get(`${at(here, target)}/notes`);
  assert.equal(page.headers.get('x-total'), '0');

  // Issues that the author may not read are not mentioned at all.
  const own = await addIssue(here, { title: 'Guess' }, 'guest');
  await here.as('guest').post(`${at(here, own)}/notes`, { body: `Is it #${secret.iid}?` });
  assert.deepEqual(await noted(here, secret, 'owner'), []);
  // Internal notes create no mentions elsewhere.
  await here.as('planner').post(`${at(here, own)}/notes`, { body: `It is #${secret.iid}.`, internal: true });
  assert.deepEqual(await noted(here, secret, 'owner'), []);
});

test('issues of other projects are referenced by path or URL, and show a full reference back', async () => {
  const here = await world();
  const { as, group } = here;
  const other = (await as('owner').post('/projects', { name: `other-${here.project.id}`, namespace_id: group.id }))
    .body;
  const [one, two, three] = await Promise.all(
    ['a', 'b', 'c'].map(async (title) => (await as('owner').post(`/projects/${other.id}/issues`, { title })).body),
  );
  const source = await addIssue(here);
  const body = `${other.path}#${one.iid} ${other.path_with_namespace}#${two.iid} http://coppice.test/${other.path_with_namespace}/-/issues/${three.iid}`;
  await as('guest').post(`${at(here, source)}/notes`, { body });
  for (const issue of [one, two, three])
    assert.deepEqual(await noted(here, issue, 'owner', other.id), [
      `mentioned in issue ${here.project.full_path}#${source.iid}`,
    ]);
});

test('mentioned users get a to-do item the first time, if they may read the text', async () => {
  const here = await world();
  const { as, people } = here;
  const named = (persona: Persona) => `@${people[persona].username}`;
  const issue = await addIssue(here);
  const body = `${named('guest')}, ${named('planner')}: ask ${named('developer')}, not ${named('outsider')} or @nobody-else or \`${named('owner')}\``;
  const note = (await as('reporter').post(`${at(here, issue)}/notes`, { body: `${body} ${named('reporter')}` })).body;
  const todo = (persona: Persona, action_name: string) => ({
    username: people[persona].username,
    action_name,
    note_id: note.id,
  });
  assert.deepEqual(await todosOn(here, issue), [
    todo('developer', 'mentioned'),
    todo('guest', 'directly_addressed'),
    todo('planner', 'directly_addressed'),
  ]);
  const names = (['developer', 'guest', 'outsider', 'planner', 'reporter'] as const).map((persona) => [
    people[persona].username,
    note.id,
  ]);
  assert.deepEqual(await mentionedOn(here, issue), names);

  await as('reporter').put(`${at(here, issue)}/notes/${note.id}`, {
    body: `Ask ${named('maintainer')} and ${named('developer')}.`,
  });
  const left = (['developer', 'maintainer'] as const).map((persona) => [people[persona].username, note.id]);
  assert.deepEqual(await mentionedOn(here, issue), left);
  assert.deepEqual(
    (await todosOn(here, issue)).map(({ username }) => username),
    (['developer', 'guest', 'maintainer', 'planner'] as const).map((persona) => people[persona].username),
  );
  await as('reporter').delete(`${at(here, issue)}/notes/${note.id}`);
  assert.deepEqual(await mentionedOn(here, issue), []);
  assert.deepEqual(await todosOn(here, issue), []);
});

test('an internal comment creates to-do items only for users who may read it', async () => {
  const here = await world();
  const { as, people } = here;
  const issue = await addIssue(here);
  const body = `See @${people.guest.username} and @${people.developer.username}`;
  await as('planner').post(`${at(here, issue)}/notes`, { body, internal: true });
  assert.deepEqual(
    (await todosOn(here, issue)).map(({ username }) => username),
    [people.developer.username],
  );
});

test('a text full of mentions is processed in time, and notifies at most a hundred users and issues', async () => {
  const here = await world();
  const target = await addIssue(here);
  const source = await addIssue(here);
  const body = `${Array.from({ length: 30_000 }, (_, index) => `@x${index} #${index + 1000}`).join(' ')} #${target.iid}`;
  assert.equal((await here.as('guest').post(`${at(here, source)}/notes`, { body })).status, 201);
  assert.deepEqual(await noted(here, target), []);
});

test('notes of a moved or cloned issue keep threads, authors, times and reactions', async () => {
  const here = await world();
  const { as, group, db } = here;
  const issue = await addIssue(here);
  const thread = (
    await as('guest').post(`${at(here, issue)}/discussions`, { body: `For @${here.people.planner.username}.` })
  ).body;
  await as('reporter').post(`${at(here, issue)}/discussions/${thread.id}/notes`, { body: 'Two.' });
  await as('guest').post(`${at(here, issue)}/notes`, { body: 'Alone.' });
  await db
    .insertInto('award_emoji')
    .values({ name: 'tada', user_id: here.people.guest.id, note_id: thread.notes[0].id })
    .execute();
  const before = (await as('guest').get(`${at(here, issue)}/discussions`)).body;
  const target = (await as('owner').post('/projects', { name: `moved-${here.project.id}`, namespace_id: group.id }))
    .body;
  const moved = await as('owner').post(`${at(here, issue)}/move`, { to_project_id: target.id });
  assert.equal(moved.status, 201, JSON.stringify(moved.body));
  const after = (await as('owner').get(`/projects/${target.id}/issues/${moved.body.iid}/discussions`)).body;
  const copied = after.filter(({ notes }: { notes: { system: boolean }[] }) => !notes[0]!.system);
  const essence = (threads: { id: string; individual_note: boolean; notes: Record<string, unknown>[] }[]) =>
    threads.map(({ individual_note, notes }) => [
      individual_note,
      ...notes.map(({ body, author, created_at, updated_at, type }) => ({
        body,
        author,
        created_at,
        updated_at,
        type,
      })),
    ]);
  assert.deepEqual(essence(copied), essence(before));
  assert.notEqual(copied[0].id, before[0].id);
  const awards = await db
    .selectFrom('award_emoji')
    .select('name')
    .where('note_id', '=', copied[0].notes[0].id)
    .execute();
  assert.deepEqual(awards, [{ name: 'tada' }]);
  assert.equal((await mentionedOn(here, moved.body)).length, 1);
});
