import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type Client, nextPath } from '../../../../test/support/client.ts';
import { addIssue } from '../../../../test/support/issues.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { recordEvent } from './index.ts';

type Event = { action_name: string; target_type: string | null; target_title: string | null; [field: string]: unknown };

const received = (events: Event[]) =>
  events.map(({ action_name, target_type, target_title }) => [action_name, target_type, target_title]);

async function eventsOf(client: Client, path: string, query: Record<string, unknown> = {}): Promise<Event[]> {
  const { status, body } = await client.get(path, query);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

let projects = 0;

/** A public project of its own, so that other tests leave no events in it. */
async function publicProject(here: World): Promise<{ id: number; url: string; name: string }> {
  const { status, body } = await here.as('owner').post('/projects', {
    name: `Events ${++projects}`,
    visibility: 'public',
  });
  assert.equal(status, 201);
  return { id: body.id, url: `/projects/${body.id}`, name: body.name };
}

test('the events of a project are listed newest first, with the fields of the API', async () => {
  const here = await world();
  const { as, people } = here;
  const { id, url, name } = await publicProject(here);
  const owner = as('owner');
  const { id: issue_id, iid } = (await owner.post(`${url}/issues`, { title: 'Broken' })).body;
  const comment = (await as('guest').post(`${url}/issues/${iid}/notes`, { body: 'Why?' })).body;
  await owner.put(`${url}/issues/${iid}`, { state_event: 'close' });
  await owner.put(`${url}/issues/${iid}`, { state_event: 'reopen' });
  const milestone = (await owner.post(`${url}/milestones`, { title: 'Spring' })).body;
  const change = { branch: 'main', content: 'a', commit_message: 'Add a file\n\nwith a reason' };
  assert.equal((await owner.post(`${url}/repository/files/a`, change)).status, 201);

  const events = await eventsOf(as('anonymous'), `${url}/events`);
  assert.deepEqual(received(events), [
    ['pushed new', null, null],
    ['opened', 'Milestone', 'Spring'],
    ['opened', 'Issue', 'Broken'],
    ['closed', 'Issue', 'Broken'],
    ['commented on', 'Note', 'Broken'],
    ['opened', 'Issue', 'Broken'],
    ['created', 'Project', name],
  ]);
  const [push, ofMilestone, , , note, opened, created] = events;
  const { body: head } = await owner.get(`${url}/repository/commits/main`);
  assert.deepEqual(push!.push_data, {
    commit_count: 1,
    action: 'created',
    ref_type: 'branch',
    commit_from: null,
    commit_to: head.id,
    ref: 'main',
    commit_title: 'Add a file',
    ref_count: null,
  });
  assert.deepEqual([push!.target_id, push!.target_iid], [null, null]);
  assert.deepEqual([ofMilestone!.target_id, ofMilestone!.target_iid], [milestone.id, milestone.iid]);
  assert.equal((note!.note as { body: string }).body, 'Why?');
  assert.deepEqual(
    [note!.target_id, note!.author_id, note!.author_username],
    [comment.id, people.guest.id, people.guest.username],
  );
  assert.deepEqual([created!.target_id, created!.target_iid], [id, id]);
  const { id: event_id, created_at, author, ...rest } = opened!;
  assert.deepEqual(rest, {
    title: null,
    project_id: id,
    action_name: 'opened',
    target_id: issue_id,
    target_iid: iid,
    target_type: 'Issue',
    author_id: people.owner.id,
    target_title: 'Broken',
    imported: false,
    imported_from: 'none',
    author_username: people.owner.username,
  });
  assert.ok(Number.isInteger(event_id) && typeof created_at === 'string');
  assert.equal((author as { username: string }).username, people.owner.username);
  assert.deepEqual((await owner.get(url)).body._links.events.endsWith(`/api/v4${url}/events`), true);
});

test('events are filtered by action, target and day, ordered and paged', async () => {
  const here = await world();
  const { url } = await publicProject(here);
  const owner = here.as('owner');
  for (const title of ['one', 'two', 'three']) await owner.post(`${url}/issues`, { title });
  const list = (query: Record<string, unknown>) => eventsOf(owner, `${url}/events`, query);
  const titles = async (query: Record<string, unknown>) => (await list(query)).map(({ target_title }) => target_title);
  assert.deepEqual(await titles({ target_type: 'issue', sort: 'asc' }), ['one', 'two', 'three']);
  assert.deepEqual(await titles({ target_type: 'issue', per_page: 2, page: 2 }), ['one']);
  assert.deepEqual(await titles({ action: 'closed' }), []);
  assert.deepEqual((await list({ action: 'created', target_type: 'project' })).length, 1);
  assert.deepEqual(await titles({ target_type: 'epic' }), []);
  assert.deepEqual(await titles({ target_type: 'user' }), []);

  const [{ id } = { id: 0 }] = await list({ sort: 'asc', target_type: 'issue' });
  await here.db
    .updateTable('events')
    .set({ created_at: '2030-03-10T12:00:00Z' })
    .where('id', '=', id as number)
    .execute();
  assert.deepEqual(await titles({ after: '2030-03-09', before: '2030-03-11' }), ['one']);
  assert.deepEqual(await titles({ after: '2030-03-10' }), [], 'the day itself does not count');
  assert.ok(!(await titles({ before: '2030-03-10' })).includes('one'));
  assert.deepEqual(await titles({ target_type: 'issue' }), ['three', 'two', 'one'], 'by id');
  assert.deepEqual(await titles({ target_type: 'issue', after: '2020-01-01' }), ['one', 'three', 'two'], 'by time');
  assert.deepEqual(await titles({ target_type: 'issue', after: '2020-01-01', sort: 'asc', per_page: 1, page: 3 }), [
    'one',
  ]);

  const page = await owner.get(`${url}/events`, { per_page: 2 });
  assert.deepEqual([page.headers.get('x-total'), page.headers.get('x-total-pages')], ['4', '2']);
  for (const [query, message] of [
    [{ action: 'sung' }, 'action does not have a valid value'],
    [{ target_type: 'Issue' }, 'target_type does not have a valid value'],
    [{ before: 'soon' }, 'before is invalid'],
    [{ after: '2030-02-30' }, 'after is invalid'],
    [{ sort: 'up' }, 'sort does not have a valid value'],
  ] as const) {
    const { status, body } = await owner.get(`${url}/events`, query);
    assert.deepEqual([status, body.error], [400, message]);
  }
});

test('callers see their own events, and with scope=all those in their projects', async () => {
  const here = await world();
  const { id, url } = await publicProject(here);
  const [member, other] = [await here.person(), await here.person()];
  await here.as('owner').post(`${url}/members`, { user_id: member.id, access_level: 30 });
  await member.client.post(`${url}/issues`, { title: 'by a member' });
  await other.client.post(`${url}/issues`, { title: 'by another user' });

  const titles = async (client: Client, query = {}) =>
    (await eventsOf(client, '/events', { target_type: 'issue', ...query })).map(({ target_title }) => target_title);
  assert.deepEqual(await titles(member.client), ['by a member']);
  assert.deepEqual(await titles(member.client, { scope: 'something' }), ['by a member']);
  assert.deepEqual(await titles(member.client, { scope: 'all' }), ['by another user', 'by a member']);
  assert.deepEqual(
    await titles(other.client, { scope: 'all' }),
    [],
    'a public project is not the project of everybody',
  );
  assert.equal((await here.as('anonymous').get('/events')).status, 401);

  const mine = (await eventsOf(member.client, '/events', { action: 'joined' })).map(({ project_id }) => project_id);
  assert.deepEqual(mine, [id]);
  await here.as('owner').put(url, { visibility: 'private' });
  assert.deepEqual(await titles(other.client), [], 'the project is no longer visible to them');
  const { body } = await here.as('admin').post(`/users/${other.id}/personal_access_tokens`, {
    name: 'profile',
    scopes: ['read_user'],
  });
  assert.deepEqual((await here.as('anonymous').get('/events', { private_token: body.token })).status, 200);
});

test('a list that is too long to be counted has no total, even for callers who see few of its events', async () => {
  const here = await world();
  const { id, url } = await publicProject(here);
  const issue = (await here.as('owner').post(`${url}/issues`, { title: 'Secret', confidential: true })).body;
  const add = (count: number) =>
    sql`
    insert into events (project_id, author_id, action, target_type, target_id)
    select ${id}, ${here.people.owner.id}, 'closed', 'Issue', ${issue.id} from generate_series(1, ${count}::int)`.execute(
      here.db,
    );
  await add(30);
  const list = async (query: object) => {
    const { body, headers } = await here.as('outsider').get(`${url}/events`, { per_page: 1, ...query });
    return [body.length, headers.get('x-total')];
  };
  assert.equal((await here.as('owner').post(`${url}/issues`, { title: 'Open' })).status, 201);
  assert.deepEqual(await list({}), [1, '2']);
  await add(9_970);
  assert.deepEqual(await list({}), [1, null]);
  assert.deepEqual(await list({ action: 'created' }), [1, '2']);
  for (const filter of [{}, { sort: 'asc', after: '2020-01-02' }]) {
    const page = (number: number) => here.as('owner').get(`${url}/events`, { per_page: 100, page: number, ...filter });
    const following = await here.as('owner').get(nextPath(await page(50))!);
    assert.equal(following.headers.get('x-page'), '51');
    assert.deepEqual(following.body, (await page(51)).body);
    assert.equal((await page(501)).status, 405);
    const next = nextPath(following)!;
    assert.match(next, /cursor=/);
    assert.equal(
      (await here.as('owner').get(next.replace(/cursor=[^&]+/, 'cursor=x'))).body.message,
      'cursor is invalid',
    );
  }
  await here.db.deleteFrom('events').where('project_id', '=', id).where('action', '=', 'closed').execute();
  assert.deepEqual(await list({}), [1, null], 'for a minute');
  assert.deepEqual(await list({ sort: 'asc', after: '2020-01-01' }), [1, '2'], 'of another list');
});

test("a user's events are public, unless their profile is private", async () => {
  const here = await world();
  const { url } = await publicProject(here);
  const author = await here.person();
  await author.client.post(`${url}/issues`, { title: 'In public' });
  const list = (client: Client, user: string | number = author.username) => eventsOf(client, `/users/${user}/events`);
  assert.deepEqual(received(await list(here.as('anonymous'))), [['opened', 'Issue', 'In public']]);
  assert.deepEqual(received(await list(here.as('outsider'), author.id)), [['opened', 'Issue', 'In public']]);
  await here.db.updateTable('users').set({ private_profile: true }).where('id', '=', author.id).execute();
  assert.deepEqual(await list(here.as('outsider')), []);
  assert.equal((await list(author.client)).length, 1);
  assert.equal((await list(here.as('admin'))).length, 1);
  const unknown = await here.as('outsider').get('/users/nobody-of-this-name/events');
  assert.deepEqual([unknown.status, unknown.body.message], [404, '404 User Not Found']);
});

test('an event is hidden from callers who may not read its target', async () => {
  const here = await world();
  const { url } = await publicProject(here);
  const owner = here.as('owner');
  const secret = (await owner.post(`${url}/issues`, { title: 'Secret', confidential: true })).body;
  const open = (await owner.post(`${url}/issues`, { title: 'Open' })).body;
  await owner.post(`${url}/issues/${secret.iid}/notes`, { body: 'hidden with its issue' });
  await owner.post(`${url}/issues/${open.iid}/notes`, { body: 'for members', internal: true });
  await owner.post(`${url}/issues/${open.iid}/discussions`, { body: 'for everybody' });
  await owner.post(`${url}/repository/files/a`, { branch: 'main', content: 'a', commit_message: 'Add a' });
  const ofCommit = await owner.post(`${url}/repository/commits/main/comments`, { note: 'on the commit' });
  assert.equal(ofCommit.status, 201);
  const shown = async (client: Client) =>
    (await eventsOf(client, `${url}/events`, { sort: 'asc' }))
      .slice(1)
      .map(({ note, target_title }) => (note as { body: string } | undefined)?.body ?? target_title);
  const all = ['Secret', 'Open', 'hidden with its issue', 'for members', 'for everybody', null, 'on the commit'];
  assert.deepEqual(await shown(owner), all);
  assert.deepEqual(await shown(here.as('admin')), all);
  assert.deepEqual(await shown(here.as('outsider')), ['Open', 'for everybody', null, 'on the commit']);
  const page = await here.as('outsider').get(`${url}/events`, { per_page: 3 });
  assert.deepEqual([page.body.length, page.headers.get('x-total')], [3, '5'], 'pages are full');

  await owner.put(url, { repository_access_level: 'private', issues_access_level: 'private' });
  assert.deepEqual(await shown(here.as('outsider')), []);
  await owner.delete(`${url}/issues/${open.iid}`);
  assert.deepEqual(
    await shown(owner),
    ['Secret', 'hidden with its issue', null, 'on the commit'],
    'what is deleted can no longer be read',
  );
  await owner.put(url, { visibility: 'private' });
  const hidden = await here.as('outsider').get(`${url}/events`);
  assert.deepEqual([hidden.status, hidden.body.message], [404, '404 Project Not Found']);
});

test('an event outlives its milestone, without a title', async () => {
  const here = await world();
  const { url } = await publicProject(here);
  const { id } = (await here.as('owner').post(`${url}/milestones`, { title: 'Spring' })).body;
  assert.equal((await here.as('owner').delete(`${url}/milestones/${id}`)).status, 204);
  const events = await eventsOf(here.as('outsider'), `${url}/events`, { target_type: 'milestone' });
  assert.deepEqual(received(events), [
    ['destroyed', 'Milestone', null],
    ['opened', 'Milestone', null],
  ]);
});

test('events of wiki pages are for callers who may use the wiki, and name the page', async () => {
  const here = await world();
  const { db, people } = here;
  const { id, url } = await publicProject(here);
  const wiki = await db
    .insertInto('wikis')
    .values({ project_id: id, storage: 'default', default_branch: 'main' })
    .returning('id as wiki_id')
    .executeTakeFirstOrThrow();
  const page = { format: 'markdown', slug: 'fruit/late-apples', title: 'late apples' };
  const { id: target_id } = await db
    .insertInto('wiki_pages')
    .values({ ...wiki, ...page })
    .returning('id')
    .executeTakeFirstOrThrow();
  for (const action of ['created', 'updated', 'destroyed'] as const) {
    const event = {
      project_id: id,
      author_id: people.owner.id,
      action,
      target_type: 'WikiPage::Meta',
      target_id,
    } as const;
    await db.transaction().execute((tx) => recordEvent(tx, event));
  }
  const shown = (client: Client) => eventsOf(client, `${url}/events`, { target_type: 'wiki', sort: 'asc' });
  const events = await shown(here.as('anonymous'));
  const [created, updated, destroyed] = ['created', 'updated', 'destroyed'].map((name) => [
    name,
    'WikiPage::Meta',
    'late apples',
  ]);
  assert.deepEqual(received(events), [created, updated, destroyed]);
  assert.deepEqual(events[0]!.wiki_page, { ...page, wiki_page_meta_id: target_id });
  assert.deepEqual([events[0]!.target_id, events[0]!.target_iid], [target_id, target_id]);

  await here.as('owner').put(url, { wiki_access_level: 'private' });
  assert.deepEqual(await shown(here.as('outsider')), []);
  assert.deepEqual((await shown(here.as('owner'))).length, 3);
  await here.as('owner').put(url, { wiki_access_level: 'disabled' });
  for (const persona of ['owner', 'admin'] as const) assert.deepEqual(await shown(here.as(persona)), []);
});

test('events of issues in a private project are for its members', async () => {
  const here = await world();
  await addIssue(here, { title: 'Inside' });
  const path = `/projects/${here.project.id}/events`;
  const titles = (await eventsOf(here.as('guest'), path, { target_type: 'issue' })).map(
    ({ target_title }) => target_title,
  );
  assert.ok(titles.includes('Inside'));
  assert.equal((await here.as('anonymous').get(path)).status, 404);
});

test('clients that poll miss no event, also when transactions commit in another order than they began', async () => {
  const here = await world();
  const { id: project_id, url } = await publicProject(here);
  const owner = here.as('owner');
  const poll = async (after_id: number, query = {}) => {
    const events = await eventsOf(owner, `${url}/events`, { after_id, per_page: 100, ...query });
    return events.map(({ id }) => id as number);
  };
  const newIssue = async () => (await owner.post(`${url}/issues`, { title: 'New' })).status;
  const seen = await poll(0);
  assert.equal(seen.length, 1, 'the creation of the project');

  const later = await here.db.transaction().execute(async (slow) => {
    await here.db.transaction().execute(async (tx) => {
      await recordEvent(slow, event(project_id, here.people.owner.id));
      await recordEvent(tx, event(project_id, here.people.owner.id));
    });
    assert.equal(await newIssue(), 201);
    assert.equal((await eventsOf(owner, `${url}/events`)).length, 3, 'other lists show what is committed');
    assert.deepEqual(await poll(seen.at(-1)!), [], 'an event before these may still be committed');
    // The second transaction of this kind begins above the first.
    await recordEvent(slow, event(project_id, here.people.owner.id));
    return poll(0);
  });
  assert.deepEqual(later, seen);
  const all = await eventsOf(owner, `${url}/events`, { sort: 'asc' });
  const ids = all.map(({ id }) => id as number);
  assert.equal(ids.length, 5);
  assert.deepEqual(await poll(seen.at(-1)!), ids.slice(1));
  assert.deepEqual(await poll(ids[1]!, { per_page: 2 }), ids.slice(2, 4));
  assert.deepEqual(await poll(ids[1]!, { per_page: 2, page: 2 }), ids.slice(4));
  assert.deepEqual(await poll(0, { target_type: 'issue' }), [
    all.find(({ target_type }) => target_type === 'Issue')!.id,
  ]);
  assert.deepEqual(await poll(ids.at(-1)!), []);

  const aborted = here.db.transaction().execute(async (tx) => {
    await recordEvent(tx, event(project_id, here.people.owner.id));
    throw new Error('no');
  });
  await assert.rejects(aborted, /no/);
  assert.equal(await newIssue(), 201);
  assert.equal((await poll(ids.at(-1)!)).length, 1, 'what is rolled back holds nothing up');

  for (const [query, message] of [
    [{ after_id: 'x' }, 'after_id is invalid'],
    [{ after_id: -1 }, 'after_id does not have a valid value'],
    [{ after_id: 1, sort: 'desc' }, 'after_id, sort are mutually exclusive'],
  ] as const)
    for (const list of ['/events', `${url}/events`, `/users/${here.people.owner.id}/events`]) {
      const { status, body } = await owner.get(list, { ...query });
      assert.deepEqual([status, body.error], [400, message]);
    }
});

const event = (project_id: number, author_id: number) =>
  ({ project_id, author_id, action: 'created', target_type: 'Project', target_id: project_id }) as const;

test('a client that polls while others write sees each event once, in order', async () => {
  const here = await world();
  const { url } = await publicProject(here);
  const writers = (['owner', 'guest', 'developer'] as const).map(async (persona) => {
    for (let number = 0; number < 8; number++)
      assert.equal((await here.as(persona).post(`${url}/issues`, { title: `${number}` })).status, 201);
  });
  const polled: number[] = [];
  const poll = async () => {
    const events = await eventsOf(here.as('outsider'), `${url}/events`, { after_id: polled.at(-1) ?? 0 });
    polled.push(...events.map(({ id }) => id as number));
  };
  let writing = true;
  const ended = Promise.all(writers).finally(() => {
    writing = false;
  });
  while (writing) await poll();
  await ended;
  await poll();
  const all = await eventsOf(here.as('outsider'), `${url}/events`, { sort: 'asc', per_page: 100 });
  assert.deepEqual(
    polled,
    all.map(({ id }) => id),
  );
  assert.equal(polled.length, 25);
});
