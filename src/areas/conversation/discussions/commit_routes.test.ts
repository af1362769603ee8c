import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commented, notesIn, refsOf } from '../../../../test/support/commented.ts';
import { addIssue } from '../../../../test/support/issues.ts';
import type { Persona } from '../../../../test/support/world.ts';

test('a thread on a commit is started, replied to, read, changed and deleted', async () => {
  const here = await commented();
  const { as, at, second, project, people } = here;
  const begun = await as('reporter').post(`${at}/discussions`, { body: 'Why **beans**?' });
  assert.equal(begun.status, 201, JSON.stringify(begun.body));
  const { id, notes } = begun.body;
  assert.match(id, /^[0-9a-f]{40}$/);
  assert.equal(begun.body.individual_note, false);
  const [first] = notes;
  assert.deepEqual(first, {
    id: first.id,
    type: 'DiscussionNote',
    body: 'Why **beans**?',
    attachment: null,
    author: first.author,
    created_at: first.created_at,
    updated_at: first.created_at,
    system: false,
    noteable_id: null,
    noteable_type: 'Commit',
    project_id: project.id,
    noteable_iid: null,
    commit_id: second,
    resolvable: false,
    confidential: false,
    internal: false,
    imported: false,
    imported_from: 'none',
    commands_changes: {},
  });
  assert.equal(first.author.id, people.reporter.id);

  const answer = await as('developer').post(`${at}/discussions/${id}/notes`, { body: 'They grow.' });
  assert.equal(answer.status, 201);
  assert.equal(answer.body.type, 'DiscussionNote');
  const whole = { id, individual_note: false, notes: [first, answer.body] };
  assert.deepEqual((await as('reporter').get(`${at}/discussions/${id}`)).body, whole);
  assert.deepEqual((await as('reporter').get(`${at}/discussions`)).body, [whole]);
  assert.deepEqual((await as('reporter').get(`${at}/discussions/${id}/notes`)).body, whole.notes);
  assert.deepEqual((await as('reporter').get(`${at}/discussions/${id}/notes/${first.id}`)).body, first);

  const changed = await as('reporter').put(`${at}/discussions/${id}/notes/${first.id}`, { body: 'Why peas?' });
  assert.equal(changed.status, 200);
  assert.deepEqual(changed.body, { ...first, body: 'Why peas?', updated_at: changed.body.updated_at });
  assert.equal((await as('reporter').delete(`${at}/discussions/${id}/notes/${first.id}`)).status, 204);
  assert.deepEqual((await as('reporter').get(`${at}/discussions/${id}`)).body.notes, [answer.body]);
  assert.equal((await as('developer').delete(`${at}/discussions/${id}/notes/${answer.body.id}`)).status, 204);
  const gone = await as('reporter').get(`${at}/discussions/${id}`);
  assert.deepEqual([gone.status, gone.body.message], [404, '404 Discussion Not Found']);
  const none = await as('reporter').get(`${at}/discussions/${id}/notes`);
  assert.deepEqual([none.status, none.body.message], [404, '404 Notes Not Found']);
});

test('any revision names the commit, which is stored by its full id', async () => {
  const here = await commented();
  const { as, project, first, second } = here;
  const commits = `/projects/${project.id}/repository/commits`;
  for (const revision of [second, second.slice(0, 8), 'main', 'HEAD', encodeURIComponent('refs/heads/main')]) {
    const added = await as('reporter').post(`${commits}/${revision}/discussions`, { body: revision });
    assert.deepEqual([added.status, added.body.notes?.[0].commit_id], [201, second], revision);
  }
  assert.equal((await as('reporter').get(`${commits}/main/discussions`)).body.length, 5);
  assert.deepEqual((await as('reporter').get(`${commits}/${first}/discussions`)).body, []);
  const page = await as('reporter').get(`${commits}/main/discussions`, { per_page: 2, page: 3 });
  assert.deepEqual([page.body.length, page.headers.get('x-total')], [1, '5']);
  const before = await notesIn(here);
  for (const revision of ['nowhere', '0'.repeat(40), 'main~1']) {
    const refused = await as('reporter').post(`${commits}/${revision}/discussions`, { body: 'x' });
    assert.deepEqual([refused.status, refused.body], [404, { message: '404 Commit Not Found' }], revision);
  }
  const other = await as('reporter').get(`${commits}/${first}/discussions/${'0'.repeat(40)}`);
  assert.deepEqual([other.status, other.body.message], [404, '404 Discussion Not Found']);
  assert.equal(await notesIn(here), before);
});

test('only callers who may read the code read and write comments', async () => {
  const here = await commented();
  const { as, at, db, project } = here;
  const { id, notes } = (await as('reporter').post(`${at}/discussions`, { body: 'Mine' })).body;
  const note = `${at}/discussions/${id}/notes/${notes[0].id}`;
  const seen = async (persona: Persona | 'anonymous') => (await as(persona).get(`${at}/discussions`)).status;
  assert.equal(await seen('anonymous'), 401);
  assert.equal(await seen('outsider'), 404);
  assert.equal(await seen('guest'), 404);
  assert.equal(await seen('reporter'), 200);
  const before = await notesIn(here);
  const refused = await as('guest').post(`${at}/discussions`, { body: 'x' });
  assert.deepEqual([refused.status, refused.body], [404, { message: '404 Commit Not Found' }]);
  assert.equal((await as('anonymous').post(`${at}/discussions`, { body: 'x' })).status, 401);
  for (const persona of ['developer', 'planner'] as const) {
    const denied = persona === 'developer' ? 403 : 404;
    assert.equal((await as(persona).put(note, { body: 'Not yours' })).status, denied, persona);
    assert.equal((await as(persona).delete(note)).status, denied, persona);
  }
  assert.equal(await notesIn(here), before);
  assert.equal((await as('reporter').get(note)).body.body, 'Mine');
  assert.equal((await as('maintainer').delete(note)).status, 204);

  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
  assert.equal(await seen('anonymous'), 401);
  const welcome = await as('outsider').post(`${at}/discussions`, { body: 'Hello' });
  assert.equal(welcome.status, 201);
  const late = await as('outsider').post(`${at}/discussions`, { body: 'x', created_at: '2020-01-01T00:00:00Z' });
  assert.notEqual(late.body.notes[0].created_at, '2020-01-01T00:00:00.000Z');
  const dated = await as('owner').post(`${at}/discussions`, { body: 'x', created_at: '2020-01-01T00:00:00Z' });
  assert.equal(dated.body.notes[0].created_at, '2020-01-01T00:00:00.000Z');

  await db.updateTable('projects').set({ repository_access_level: 'disabled' }).where('id', '=', project.id).execute();
  assert.equal(await seen('maintainer'), 404);
  await db.updateTable('projects').set({ repository_access_level: 'enabled' }).where('id', '=', project.id).execute();
  await as('owner').post(`/projects/${project.id}/archive`);
  const archived = await as('maintainer').post(`${at}/discussions`, { body: 'x' });
  assert.deepEqual([archived.status, archived.body.message], [403, '403 Forbidden - The project is archived.']);
  assert.equal((await as('maintainer').get(`${at}/discussions`)).status, 200);
});

test('texts and changes that the reference refuses are refused', async () => {
  const here = await commented();
  const { as, at } = here;
  const { id, notes } = (await as('reporter').post(`${at}/discussions`, { body: 'Stays' })).body;
  const note = `${at}/discussions/${id}/notes/${notes[0].id}`;
  const before = await notesIn(here);
  const blank = '400 Bad request - Note {:note=>["can\'t be blank"]}';
  const refusals = [
    [await as('reporter').post(`${at}/discussions`, {}), 'body is missing'],
    [await as('reporter').post(`${at}/discussions`, { body: ' ' }), blank],
    [await as('reporter').put(note, {}), 'body, resolved are missing, exactly one parameter must be provided'],
    [await as('reporter').put(note, { body: 'x', resolved: true }), 'body, resolved are mutually exclusive'],
    [await as('reporter').put(note, { resolved: true }), '400 Bad request - Note is not resolvable'],
    [
      await as('reporter').post(`${at}/discussions`, { body: 'x'.repeat(1_000_001) }),
      '400 Bad request - Note {:note=>["is too long (maximum is 1000000 characters)"]}',
    ],
  ] as const;
  for (const [{ status, body }, message] of refusals) assert.deepEqual([status, body.message], [400, message]);
  const absent = await as('reporter').put(`${at}/discussions/${id}/notes/0`, { body: 'x' });
  assert.deepEqual([absent.status, absent.body.message], [404, '404 Not found']);
  const changed = await as('reporter').delete(note, undefined, {
    headers: { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' },
  });
  assert.equal(changed.status, 412);
  assert.equal(await notesIn(here), before);
  assert.equal((await as('reporter').get(note)).body.body, 'Stays');
});

test('quick actions in a comment on a commit stay text', async () => {
  const { as, at } = await commented();
  const body = '/close\n/shrug\nand /tag v1';
  const added = await as('maintainer').post(`${at}/discussions`, { body });
  assert.deepEqual([added.status, added.body.notes[0].body], [201, body]);
  assert.equal((await as('maintainer').post(`${at}/discussions`, { body: '/close' })).status, 201);
});

test('a comment at a place of the diff keeps it, and so do its replies', async () => {
  const here = await commented();
  const { as, at, first, second } = here;
  const refs = refsOf(here);
  const paths = { old_path: 'beans.txt', new_path: 'beans.txt' };
  const range = {
    start: { line_code: 'f9f6d91cfd58763d16d4ccec876f7305601e4acf_3_2', type: 'new', new_line: 2 },
    end: { line_code: 'f9f6d91cfd58763d16d4ccec876f7305601e4acf_3_3', type: 'new', new_line: 3 },
  };
  const placed = async (position: object) => {
    const { status, body } = await as('reporter').post(`${at}/discussions`, { body: 'Here', position });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  };
  const added = await placed({ ...refs, position_type: 'text', ...paths, new_line: 2 });
  assert.equal(added.individual_note, false);
  assert.equal(added.notes[0].type, 'DiffNote');
  const text = { ...refs, position_type: 'text', ...paths, old_line: null, new_line: 2, line_range: null };
  assert.deepEqual(added.notes[0].position, text);
  const reply = await as('developer').post(`${at}/discussions/${added.id}/notes`, { body: 'There' });
  assert.deepEqual([reply.body.type, reply.body.position], ['DiffNote', text]);

  const removed = await placed({ ...refs, position_type: 'text', ...paths, old_line: 2 });
  assert.deepEqual(removed.notes[0].position, { ...text, old_line: 2, new_line: null });
  const same = await placed({ ...refs, position_type: 'text', ...paths, old_line: 3, new_line: 4, line_range: range });
  assert.deepEqual(same.notes[0].position, { ...text, old_line: 3, new_line: 4, line_range: range });
  const moved = await placed({ ...refs, position_type: 'text', new_path: 'new.txt', new_line: 21 });
  assert.equal(moved.notes[0].position.old_path, 'old.txt');
  const image = {
    position_type: 'image',
    new_path: 'bean.png',
    old_path: 'bean.png',
    width: 100,
    height: 80,
    x: 10,
    y: 0,
  };
  assert.deepEqual((await placed({ ...refs, ...image })).notes[0].position, { ...refs, ...image });
  const file = await placed({ ...refs, position_type: 'file', ...paths });
  assert.deepEqual(file.notes[0].position, { ...refs, position_type: 'file', ...paths });

  const blank = '0'.repeat(40);
  const root = await as('reporter').post(at.replace(second, first).concat('/discussions'), {
    body: 'From the start',
    position: {
      base_sha: blank,
      start_sha: blank,
      head_sha: first,
      position_type: 'text',
      new_path: 'old.txt',
      new_line: 20,
    },
  });
  assert.deepEqual([root.status, root.body.notes?.[0].position.new_line], [201, 20]);
});

test('a position that the diff does not have is refused', async () => {
  const here = await commented();
  const { as, at, first, second } = here;
  const refs = refsOf(here);
  const before = await notesIn(here);
  const text = { ...refs, position_type: 'text', old_path: 'beans.txt', new_path: 'beans.txt' };
  const noLine = '400 Bad request - Note {:line_code=>["can\'t be blank", "must be a valid line code"]}';
  const incomplete = '400 Bad request - Note {:position=>["is incomplete"]}';
  const image = { ...refs, position_type: 'image', new_path: 'bean.png', width: 1, height: 1, x: 1 };
  const cases: [object, string][] = [
    [{ ...text, new_line: 15 }, noLine],
    [{ ...text, old_line: 2, new_line: 2 }, noLine],
    [{ ...text, new_line: -1 }, noLine],
    [{ ...text, new_path: 'nowhere.txt', new_line: 2 }, noLine],
    [{ ...refs, position_type: 'text', new_path: 'bean.png', new_line: 1 }, noLine],
    [text, incomplete],
    [{ ...refs, position_type: 'text', new_line: 2 }, incomplete],
    [{ ...text, head_sha: first, new_line: 2 }, incomplete],
    [{ ...text, base_sha: second, new_line: 2 }, incomplete],
    [image, incomplete],
    [{ ...image, y: 1, new_path: 'nowhere.png' }, incomplete],
    [
      { position_type: 'text' },
      'position[base_sha] is missing, position[start_sha] is missing, position[head_sha] is missing',
    ],
    [{ ...text, position_type: 'sound' }, 'position[position_type] does not have a valid value'],
    [{ ...text, new_line: 'two' }, 'position[new_line] is invalid'],
  ];
  for (const [position, message] of cases) {
    const { status, body } = await as('reporter').post(`${at}/discussions`, { body: 'Here', position });
    assert.deepEqual([status, body.message], [400, message], JSON.stringify(position));
  }
  assert.equal(await notesIn(here), before);
});

test('users whom a comment mentions have a to-do item, if they may read the code', async () => {
  const here = await commented();
  const { as, at, people, project, second, services } = here;
  const { developer, guest } = people;
  const body = `@${developer.username} @${guest.username} look`;
  const { notes } = (await as('reporter').post(`${at}/discussions`, { body })).body;
  assert.deepEqual((await as('guest').get('/todos')).body, []);
  const [todo, ...more] = (await as('developer').get('/todos', { type: 'Commit' })).body;
  assert.deepEqual(more, []);
  assert.deepEqual(
    [todo.target_type, todo.action_name, todo.body, todo.state, todo.project.id],
    ['Commit', 'directly_addressed', body, 'pending', project.id],
  );
  assert.deepEqual([todo.target.id, todo.target.title], [second, 'Sow the beans']);
  assert.equal(todo.target_url, `${services.url}/${project.full_path}/-/commit/${second}#note_${notes[0].id}`);
  assert.deepEqual((await as('developer').get('/todos', { type: 'Issue' })).body, []);
  await as('reporter').post(`${at}/discussions`, { body: `Again @${developer.username}` });
  assert.equal((await as('developer').get('/todos')).body.length, 1, 'one pending item for a commit');

  assert.equal((await as('developer').post(`${at}/discussions`, { body: 'Seen' })).status, 201);
  assert.deepEqual((await as('developer').get('/todos')).body, []);
  const [done] = (await as('developer').get('/todos', { state: 'done' })).body;
  assert.equal(done.id, todo.id);
  await as('owner').put(`/projects/${project.id}`, { repository_access_level: 'disabled' });
  assert.deepEqual((await as('developer').get('/todos', { state: 'done' })).body, []);
});

test('an issue referenced in a comment on a commit has a note for readers of the code', async () => {
  const here = await commented();
  const { as, at, second, project } = here;
  const issue = await addIssue(here, { title: 'Beans' });
  const noted = async (persona: Persona) =>
    (await as(persona).get(`/projects/${project.id}/issues/${issue.iid}/notes`)).body.map(
      ({ body }: { body: string }) => body,
    );
  const body = `About #${issue.iid}, again #${issue.iid}`;
  for (const _ of [1, 2]) assert.equal((await as('reporter').post(`${at}/discussions`, { body })).status, 201);
  assert.deepEqual(await noted('reporter'), [`mentioned in commit ${second.slice(0, 8)}`]);
  assert.deepEqual(await noted('guest'), []);

  const other = (await as('owner').post('/projects', { name: 'other', namespace_id: here.group.id })).body;
  const { iid } = (await as('owner').post(`/projects/${other.id}/issues`, { title: 'Peas' })).body;
  await as('reporter').post(`${at}/discussions`, { body: `And ${other.path_with_namespace}#${iid}` });
  const [elsewhere] = (await as('reporter').get(`/projects/${other.id}/issues/${iid}/notes`)).body;
  assert.equal(elsewhere.body, `mentioned in commit ${project.full_path}@${second.slice(0, 8)}`);
});

test('comments are recorded as events and deleted with the project', async () => {
  const here = await commented();
  const { as, at, db, project } = here;
  const started = (await as('reporter').post(`${at}/discussions`, { body: 'x' })).body.notes[0];
  const position = { ...refsOf(here), position_type: 'file', new_path: 'beans.txt' };
  const placed = (await as('reporter').post(`${at}/discussions`, { body: 'x', position })).body.notes[0];
  const events = await db
    .selectFrom('events')
    .select(['target_type', 'target_id'])
    .where('project_id', '=', project.id)
    .where('action', '=', 'commented')
    .orderBy('id')
    .execute();
  assert.deepEqual(events, [
    { target_type: 'DiscussionNote', target_id: started.id },
    { target_type: 'DiffNote', target_id: placed.id },
  ]);
  await db.deleteFrom('projects').where('id', '=', project.id).execute();
  assert.equal(await notesIn(here), 0);
});
