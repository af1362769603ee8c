import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../test/support/issues.ts';
import { type World, world } from '../../../../test/support/world.ts';

interface Reply {
  id: number;
  type: string | null;
  body: string;
}
const bodies = (notes: Reply[]) => notes.map(({ body }) => body);

/** A world with an issue, and the path of its discussions. */
async function discussed(
  issue: Parameters<typeof addIssue>[1] = {},
): Promise<World & { issue: { id: number; iid: number }; at: string }> {
  const here = await world();
  const added = await addIssue(here, issue);
  return { ...here, issue: added, at: `/projects/${here.project.id}/issues/${added.iid}` };
}

test('a thread is started, replied to, read and deleted', async () => {
  const { as, at, issue, project, people, url } = await discussed();
  const begun = await as('guest').post(`${at}/discussions`, { body: 'What **about** this?' });
  assert.equal(begun.status, 201);
  const { id, notes } = begun.body;
  assert.match(id, /^[0-9a-f]{40}$/);
  assert.equal(begun.body.individual_note, false);
  const [first] = notes;
  assert.deepEqual(first, {
    id: first.id,
    type: 'DiscussionNote',
    body: 'What **about** this?',
    attachment: null,
    author: first.author,
    created_at: first.created_at,
    updated_at: first.created_at,
    system: false,
    noteable_id: issue.id,
    noteable_type: 'Issue',
    project_id: project.id,
    noteable_iid: issue.iid,
    resolvable: false,
    confidential: false,
    internal: false,
    imported: false,
    imported_from: 'none',
    commands_changes: {},
  });
  assert.equal(first.author.username, people.guest.username);
  assert.ok(first.author.web_url.endsWith(`/${people.guest.username}`), url);

  const answer = await as('reporter').post(`${at}/discussions/${id}/notes`, { body: 'This.' });
  assert.equal(answer.status, 201);
  assert.equal(answer.body.type, 'DiscussionNote');
  const read = await as('guest').get(`${at}/discussions/${id}`);
  assert.deepEqual(read.body, { id, individual_note: false, notes: [first, answer.body] });
  assert.deepEqual((await as('guest').get(`${at}/discussions/${id}/notes`)).body, [first, answer.body]);
  assert.deepEqual((await as('guest').get(`${at}/discussions/${id}/notes/${answer.body.id}`)).body, answer.body);
  assert.deepEqual((await as('guest').get(`${at}/discussions`)).body, [read.body]);

  // The first note of a thread can be deleted alone.
  assert.equal((await as('guest').delete(`${at}/discussions/${id}/notes/${first.id}`)).status, 204);
  const left = { id, individual_note: false, notes: [answer.body] };
  assert.deepEqual((await as('guest').get(`${at}/discussions`)).body, [left]);
  assert.equal((await as('guest').post(`${at}/discussions/${id}/notes`, { body: 'More.' })).status, 201);
  for (const note of (await as('guest').get(`${at}/discussions/${id}`)).body.notes)
    assert.equal((await as('maintainer').delete(`${at}/discussions/${id}/notes/${note.id}`)).status, 204);
  assert.deepEqual((await as('guest').get(`${at}/discussions`)).body, []);
  const gone = await as('guest').get(`${at}/discussions/${id}`);
  assert.deepEqual([gone.status, gone.body.message], [404, '404 Discussion Not Found']);
  assert.equal((await as('guest').get(`${at}/discussions/${id}/notes`)).body.message, '404 Notes Not Found');
});

test('a comment with a reply becomes a thread with the same id, and leaves the notes API', async () => {
  const { as, at } = await discussed();
  const comment = (await as('guest').post(`${at}/notes`, { body: 'Alone.' })).body;
  assert.equal(comment.type, null);
  const [single] = (await as('guest').get(`${at}/discussions`)).body;
  assert.deepEqual(single, { id: single.id, individual_note: true, notes: [comment] });
  assert.equal((await as('guest').get(`${at}/notes/${comment.id}`)).status, 200);

  const answer = (await as('reporter').post(`${at}/discussions/${single.id}/notes`, { body: 'Not any more.' })).body;
  const [thread] = (await as('guest').get(`${at}/discussions`)).body;
  assert.deepEqual(thread, {
    id: single.id,
    individual_note: false,
    notes: [{ ...comment, type: 'DiscussionNote' }, answer],
  });
  assert.deepEqual((await as('guest').get(`${at}/notes`)).body, []);
  for (const id of [comment.id, answer.id]) {
    assert.equal((await as('guest').get(`${at}/notes/${id}`)).status, 404);
    assert.equal((await as('owner').put(`${at}/notes/${id}`, { body: 'x' })).status, 404);
    assert.equal((await as('owner').delete(`${at}/notes/${id}`)).status, 404);
  }
});

test('concurrent replies to a comment create one thread', async () => {
  const { as, at } = await discussed();
  await as('guest').post(`${at}/notes`, { body: 'Alone.' });
  const [{ id }] = (await as('guest').get(`${at}/discussions`)).body;
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((body) => as('planner').post(`${at}/discussions/${id}/notes`, { body })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 201, 201, 201, 201],
  );
  const [thread, ...others] = (await as('guest').get(`${at}/discussions`)).body;
  assert.deepEqual([thread.individual_note, thread.notes.length, others], [false, 6, []]);
});

test('a system note cannot be replied to', async () => {
  const { as, at } = await discussed();
  await as('planner').put(at, { title: 'Another title' });
  const [{ id, individual_note, notes }] = (await as('guest').get(`${at}/discussions`)).body;
  assert.deepEqual([individual_note, notes.length, notes[0].system], [true, 1, true]);
  const answer = await as('guest').post(`${at}/discussions/${id}/notes`, { body: 'Why?' });
  assert.deepEqual([answer.status, answer.body.message], [400, '400 Bad request - Discussion can not be replied to.']);
  // `new` is not a thread and does not start one.
  assert.equal((await as('guest').post(`${at}/discussions/new/notes`, { body: 'x' })).status, 404);
});

test('comments can be changed and deleted by their authors and by maintainers, but system notes cannot', async () => {
  const { as, at, issue, db, people } = await discussed();
  await db
    .insertInto('notes')
    .values({ issue_id: issue.id, author_id: people.owner.id, body: 'changed the description', system: true })
    .execute();
  const [system] = (await as('guest').get(`${at}/notes`)).body;
  assert.equal(system.system, true);
  const comment = (await as('guest').post(`${at}/notes`, { body: 'First.' })).body;
  const path = `${at}/notes/${comment.id}`;

  for (const persona of ['reporter', 'developer'] as const) {
    assert.deepEqual((await as(persona).put(path, { body: 'Mine.' })).body, { message: '403 Forbidden' });
    assert.equal((await as(persona).delete(path)).status, 403);
  }
  for (const persona of ['guest', 'maintainer', 'admin'] as const) {
    const changed = await as(persona).put(path, { body: `By ${persona}.` });
    assert.deepEqual([changed.status, changed.body.body], [200, `By ${persona}.`]);
    assert.equal(changed.body.created_at, comment.created_at);
    assert.ok(changed.body.updated_at > comment.updated_at);
  }
  assert.equal((await as('owner').put(`${at}/notes/${system.id}`, { body: 'x' })).status, 403);
  assert.equal((await as('owner').delete(`${at}/notes/${system.id}`)).status, 403);
  const stale = { headers: { 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' } };
  assert.equal((await as('guest').delete(path, undefined, stale)).status, 412);
  assert.equal((await as('guest').get(path)).body.body, 'By admin.');
  assert.equal((await as('guest').delete(path)).status, 204);
  assert.equal((await as('guest').get(path)).body.message, '404 Not found');
});

test('invalid texts and parameters are refused by name, and nothing is stored', async () => {
  const { as, at, project } = await discussed();
  const long = 'é'.repeat(1_000_001);
  const refusals: [string, string, object, string][] = [
    ['post', 'notes', {}, 'body is missing'],
    ['post', 'discussions', {}, 'body is missing'],
    ['post', 'notes', { body: ' \n' }, `400 Bad request - Note {:note=>["can't be blank"]}`],
    ['post', 'notes', { body: ['a'] }, 'body is invalid'],
    ['post', 'notes', { body: 'x', created_at: 'soon' }, 'created_at is invalid'],
    ['post', 'notes', { body: 'x', internal: 'maybe' }, 'internal is invalid'],
    [
      'post',
      'notes',
      { body: long },
      '400 Bad request - Note {:note=>["is too long (maximum is 1000000 characters)"]}',
    ],
    ['get', 'notes', { sort: 'up' }, 'sort does not have a valid value'],
    ['get', 'notes', { order_by: 'body' }, 'order_by does not have a valid value'],
    ['get', 'notes', { activity_filter: 'none' }, 'activity_filter does not have a valid value'],
    ['get', 'discussions', { per_page: 0 }, 'per_page has a value not allowed'],
    ['get', 'notes/x', {}, 'note_id is invalid'],
  ];
  for (const [method, path, parameters, message] of refusals) {
    const answer = await as('maintainer')[method as 'get' | 'post'](`${at}/${path}`, { ...parameters });
    assert.deepEqual([answer.status, answer.body.message], [400, message]);
  }
  assert.deepEqual((await as('guest').get(`${at}/notes`)).body, []);
  const fits = await as('guest').post(`${at}/notes`, { body: '😀'.repeat(1_000_000) });
  assert.equal(fits.status, 201);
  assert.equal((await as('guest').put(`${at}/notes/${fits.body.id}`, { body: ' ' })).body.message, 'body is empty');
  assert.equal((await as('guest').put(`${at}/notes/${fits.body.id}`)).body.message, 'body is missing, body is empty');
  for (const path of ['notes', 'discussions']) {
    const elsewhere = await as('guest').get(`/projects/${project.id}/issues/99/${path}`);
    assert.deepEqual([elsewhere.status, elsewhere.body.message], [404, '404 Issue Not Found']);
    assert.equal(
      (await as('guest').get(`/projects/${project.id}/issues/x/${path}`)).body.message,
      'issue_iid is invalid',
    );
    assert.equal((await as('outsider').get(`${at}/${path}`)).body.message, '404 Project Not Found');
    assert.equal((await as('anonymous').post(`${at}/${path}`, { body: 'x' })).status, 401);
  }
  assert.equal(
    (await as('guest').post(`${at}/discussions/${'0'.repeat(40)}/notes`, { body: 'x' })).body.message,
    '404 Discussion Not Found',
  );
});

test('notes of one issue are not found on another', async () => {
  const here = await discussed();
  const other = await addIssue(here);
  const elsewhere = `/projects/${here.project.id}/issues/${other.iid}`;
  const { id, notes } = (await here.as('guest').post(`${here.at}/discussions`, { body: 'x' })).body;
  assert.equal((await here.as('guest').get(`${elsewhere}/discussions/${id}`)).status, 404);
  assert.equal((await here.as('guest').get(`${elsewhere}/discussions/${id}/notes/${notes[0].id}`)).status, 404);
  assert.equal((await here.as('guest').post(`${elsewhere}/discussions/${id}/notes`, { body: 'y' })).status, 404);
  // As in the reference, the thread in the path is ignored when the path names a note.
  assert.equal((await here.as('guest').get(`${here.at}/discussions/other/notes/${notes[0].id}`)).status, 200);
});

test('notes are listed newest first by default, sorted, filtered and paged', async () => {
  const { as, at, issue, db, people } = await discussed();
  for (const body of ['a', 'b', 'c']) await as('guest').post(`${at}/notes`, { body });
  await db
    .insertInto('notes')
    .values({ issue_id: issue.id, author_id: people.owner.id, body: 'closed', system: true })
    .execute();
  await as('guest').post(`${at}/discussions`, { body: 'in a thread' });
  const list = async (parameters: Record<string, unknown> = {}) =>
    bodies((await as('guest').get(`${at}/notes`, parameters)).body);
  assert.deepEqual(await list(), ['closed', 'c', 'b', 'a']);
  assert.deepEqual(await list({ sort: 'asc' }), ['a', 'b', 'c', 'closed']);
  const [, , b] = (await as('guest').get(`${at}/notes`)).body;
  await as('guest').put(`${at}/notes/${b.id}`, { body: 'b again' });
  assert.deepEqual(await list({ order_by: 'updated_at' }), ['b again', 'closed', 'c', 'a']);
  assert.deepEqual(await list({ activity_filter: 'only_comments' }), ['c', 'b again', 'a']);
  assert.deepEqual(await list({ activity_filter: 'only_activity' }), ['closed']);
  const second = await as('guest').get(`${at}/notes`, { per_page: 3, page: 2 });
  assert.deepEqual(bodies(second.body), ['a']);
  assert.equal(second.headers.get('x-total'), '4');
});

test('a page of discussions counts threads, oldest first', async () => {
  const { as, at } = await discussed();
  const ids: string[] = [];
  for (const body of ['a', 'b', 'c']) ids.push((await as('guest').post(`${at}/discussions`, { body })).body.id);
  await as('guest').post(`${at}/notes`, { body: 'd' });
  for (const body of ['a2', 'a3']) await as('guest').post(`${at}/discussions/${ids[0]}/notes`, { body });
  const page = await as('guest').get(`${at}/discussions`, { per_page: 2 });
  assert.deepEqual(
    page.body.map(({ notes }: { notes: Reply[] }) => bodies(notes)),
    [['a', 'a2', 'a3'], ['b']],
  );
  assert.equal(page.headers.get('x-total'), '4');
  const next = await as('guest').get(`${at}/discussions`, { per_page: 2, page: 2 });
  assert.deepEqual(
    next.body.map(({ individual_note, notes }: { individual_note: boolean; notes: Reply[] }) => [
      individual_note,
      ...bodies(notes),
    ]),
    [
      [false, 'c'],
      [true, 'd'],
    ],
  );
});

test('internal comments and replies to them are for members from Planner up', async () => {
  const { as, at } = await discussed();
  assert.equal((await as('guest').post(`${at}/notes`, { body: 'x', internal: true })).status, 403);
  const note = (await as('planner').post(`${at}/notes`, { body: 'Among us.', internal: true })).body;
  assert.deepEqual([note.internal, note.confidential], [true, true]);
  assert.equal((await as('reporter').post(`${at}/notes`, { body: 'So too.', confidential: true })).body.internal, true);
  assert.deepEqual((await as('guest').get(`${at}/notes`)).body, []);
  const listed = await as('guest').get(`${at}/discussions`);
  assert.deepEqual([listed.body, listed.headers.get('x-total')], [[], '0']);
  assert.equal((await as('guest').get(`${at}/notes/${note.id}`)).status, 404);
  assert.equal((await as('guest').put(`${at}/notes/${note.id}`, { body: 'y' })).status, 404);
  const [{ id }] = (await as('planner').get(`${at}/discussions`)).body;
  assert.equal((await as('guest').get(`${at}/discussions/${id}`)).status, 404);
  assert.equal((await as('guest').post(`${at}/discussions/${id}/notes`, { body: 'y' })).status, 404);
  const answer = await as('developer').post(`${at}/discussions/${id}/notes`, { body: 'Yes.' });
  assert.equal(answer.body.internal, true);
  assert.equal((await as('planner').get(`${at}/discussions/${id}`)).body.notes.length, 2);
});

test('only owners and administrators can set the time of a comment', async () => {
  const { as, at } = await discussed();
  const created_at = '2020-02-03T04:05:06.000Z';
  for (const persona of ['owner', 'admin'] as const) {
    const note = (await as(persona).post(`${at}/notes`, { body: 'Long ago.', created_at: '2020-02-03T05:05:06+01:00' }))
      .body;
    assert.deepEqual([note.created_at, note.updated_at], [created_at, created_at]);
  }
  assert.notEqual(
    (await as('maintainer').post(`${at}/notes`, { body: 'Now.', created_at })).body.created_at,
    created_at,
  );
  const thread = (await as('owner').post(`${at}/discussions`, { body: 'Long ago.', created_at })).body;
  assert.equal(thread.notes[0].created_at, created_at);
  const answer = await as('owner').post(`${at}/discussions/${thread.id}/notes`, {
    body: 'Later.',
    created_at: '2020-02-04',
  });
  assert.equal(answer.body.created_at, '2020-02-04T00:00:00.000Z');
});

test('only members can comment on a locked discussion', async () => {
  const here = await discussed();
  const { as, at, db, issue, project, group } = here;
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', group.id).execute();
  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  const own = (await as('outsider').post(`${at}/discussions`, { body: 'From outside.' })).body;
  assert.equal(own.notes.length, 1);
  await db.updateTable('issues').set({ discussion_locked: true }).where('id', '=', issue.id).execute();
  const note = `${at}/discussions/${own.id}/notes`;
  assert.deepEqual((await as('outsider').post(`${at}/notes`, { body: 'x' })).body, { message: '403 Forbidden' });
  assert.equal((await as('outsider').post(note, { body: 'x' })).status, 403);
  assert.equal((await as('outsider').put(`${note}/${own.notes[0].id}`, { body: 'x' })).status, 403);
  assert.equal((await as('outsider').delete(`${note}/${own.notes[0].id}`)).status, 403);
  assert.equal((await as('guest').post(note, { body: 'From inside.' })).status, 201);
  // Every signed-in user can still read it.
  assert.equal((await as('outsider').get(`${at}/discussions`)).body.length, 1);
  assert.equal((await as('anonymous').get(`${at}/notes`)).status, 401);
  assert.equal((await as('anonymous').get(`${at}/discussions`)).status, 401);
});

test('a comment is counted, recorded as an event, and updates its issue', async () => {
  const { as, at, issue, db, people, project } = await discussed();
  const before = await db
    .selectFrom('issues')
    .select(['updated_at'])
    .where('id', '=', issue.id)
    .executeTakeFirstOrThrow();
  const state = () =>
    db
      .selectFrom('issues')
      .select(['user_notes_count', 'updated_at'])
      .where('id', '=', issue.id)
      .executeTakeFirstOrThrow();
  const note = (await as('guest').post(`${at}/notes`, { body: 'One.' })).body;
  const thread = (await as('guest').post(`${at}/discussions`, { body: 'Two.' })).body;
  const after = await state();
  assert.equal(after.user_notes_count, 2);
  assert.ok(after.updated_at > before.updated_at);
  const events = await db
    .selectFrom('events')
    .select(['action', 'target_type', 'target_id', 'author_id'])
    .where('project_id', '=', project.id)
    .where('action', '=', 'commented')
    .orderBy('id')
    .execute();
  const author_id = people.guest.id;
  assert.deepEqual(events, [
    { action: 'commented', target_type: 'Note', target_id: note.id, author_id },
    { action: 'commented', target_type: 'DiscussionNote', target_id: thread.notes[0].id, author_id },
  ]);
  await as('guest').delete(`${at}/notes/${note.id}`);
  assert.equal((await state()).user_notes_count, 1);
});

test('comments on an archived project are refused', async () => {
  const { as, at, project } = await discussed();
  const note = (await as('guest').post(`${at}/notes`, { body: 'Before.' })).body;
  await as('owner').post(`/projects/${project.id}/archive`);
  assert.equal((await as('owner').post(`${at}/notes`, { body: 'x' })).status, 403);
  assert.equal((await as('guest').delete(`${at}/notes/${note.id}`)).status, 403);
  assert.equal((await as('guest').get(`${at}/notes`)).body.length, 1);
});

test('a thread survives the deletion of the author of its first note and all their content', async () => {
  const { as, at, db, people } = await discussed();
  const thread = (await as('guest').post(`${at}/discussions`, { body: 'Mine.' })).body;
  await as('planner').post(`${at}/discussions/${thread.id}/notes`, { body: 'Yours.' });
  await db.deleteFrom('notes').where('author_id', '=', people.guest.id).execute();
  assert.deepEqual(bodies((await as('planner').get(`${at}/discussions/${thread.id}`)).body.notes), ['Yours.']);
  assert.equal((await as('planner').get(`${at}/discussions`)).body.length, 1);
});

test('commenting too often is refused, except for users on the allowlist', async (t) => {
  const { as, at, db, people } = await discussed();
  t.after(async () => {
    await as('admin').put('/application/settings', { notes_create_limit: 0, notes_create_limit_allowlist: '' });
    await db.deleteFrom('request_counts').execute();
  });
  assert.equal((await as('admin').put('/application/settings', { notes_create_limit: 1 })).body.notes_create_limit, 1);
  const statuses: number[] = [];
  for (const path of ['notes', 'discussions', 'notes', 'notes'])
    statuses.push((await as('guest').post(`${at}/${path}`, { body: 'x' })).status);
  // At least two of them fall into one window.
  assert.ok(statuses.includes(429), statuses.join());
  assert.equal((await as('guest').get(`${at}/notes`)).status, 200);
  assert.equal((await as('planner').post(`${at}/notes`, { body: 'x' })).status, 201);
  await as('admin').put('/application/settings', { notes_create_limit_allowlist: people.guest.username });
  for (let turn = 0; turn < 4; turn++) assert.equal((await as('guest').post(`${at}/notes`, { body: 'x' })).status, 201);
});
