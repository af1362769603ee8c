import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Insertable, sql } from 'kysely';
import type { Client } from '../../../../../test/support/client.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { dayOf } from '../../../../cron/index.ts';
import type { DB } from '../../../../db/index.ts';

type Values = Partial<Insertable<DB['issues']>>;

let numbers = 0;

/** Creates an issue, by default in the world's project. */
async function add({ db, project, people }: World, title: string, values: Values = {}): Promise<number> {
  numbers += 1;
  const { id } = await db
    .insertInto('issues')
    .values({ project_id: project.id, iid: numbers, title, author_id: people.developer.id, ...values })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

const addLabel = async (
  { db, project }: World,
  title: string,
  owner: { project_id: number } | { group_id: number } = { project_id: project.id },
) =>
  (
    await db
      .insertInto('labels')
      .values({ title, color: '#112233', ...owner })
      .returning('id')
      .executeTakeFirstOrThrow()
  ).id;

const label = ({ db }: World, issue_id: number, ...labels: number[]) =>
  db
    .insertInto('issue_labels')
    .values(labels.map((label_id) => ({ issue_id, label_id })))
    .execute();

const assign = ({ db }: World, issue_id: number, ...users: number[]) =>
  db
    .insertInto('issue_assignees')
    .values(users.map((user_id) => ({ issue_id, user_id })))
    .execute();

/** Makes the world's project and group public, or private again, because other tests of this file read the list of all issues, too. */
async function show({ db, project, group }: World, visibility: 'public' | 'private'): Promise<void> {
  await db.updateTable('namespaces').set({ visibility }).where('id', '=', group.id).execute();
  await db.updateTable('projects').set({ visibility }).where('id', '=', project.id).execute();
}

const dayFromNow = (days: number) => dayOf(new Date(Date.now() + days * 86_400_000));

/** The titles of a list. */
async function titles(client: Client, path: string, parameters: Record<string, unknown> = {}): Promise<string[]> {
  const { status, body } = await client.get(path, parameters);
  assert.equal(status, 200, `${path} ${JSON.stringify(parameters)} ${JSON.stringify(body)}`);
  return body.map((issue: { title: string }) => issue.title);
}

const lists = ({ project, group }: World) => [
  `/projects/${project.id}/issues`,
  `/groups/${group.id}/issues`,
  '/issues',
];

/** The titles of all lists, which must be equal; the caller sees only the issues of the world. */
async function everywhere(here: World, parameters: Record<string, unknown>): Promise<string[]> {
  const [first, ...others] = await Promise.all(
    lists(here).map((path) => titles(here.as('reporter'), path, { scope: 'all', ...parameters })),
  );
  for (const other of others) assert.deepEqual(other, first, JSON.stringify(parameters));
  return first!;
}

test('an issue appears in the lists of its project, of its group and of all issues, newest first', async () => {
  const here = await world({});
  await add(here, 'old', { created_at: '2020-01-01T00:00:00Z' });
  await add(here, 'new', { created_at: '2021-01-01T00:00:00Z', state: 'closed' });
  assert.deepEqual(await everywhere(here, {}), ['new', 'old']);
  assert.deepEqual(await everywhere(here, { state: 'opened' }), ['old']);
  assert.deepEqual(await everywhere(here, { state: 'closed' }), ['new']);
  assert.deepEqual(await everywhere(here, { state: 'all', sort: 'asc' }), ['old', 'new']);
  const { body, headers } = await here.as('guest').get(`/projects/${here.project.id}/issues`, { per_page: 1 });
  assert.equal(body[0].references.relative, body[0].references.short);
  assert.equal(headers.get('x-total'), '2');
  assert.equal(headers.get('x-next-page'), '2');
  const grouped = await here.as('guest').get(`/groups/${here.group.id}/issues`);
  assert.equal(grouped.body[0].references.relative, grouped.body[0].references.full);
});

test('/issues lists the issues created by the caller by default, and needs a caller', async () => {
  const here = await world({});
  const { people } = here;
  await add(here, 'of the developer');
  await assign(here, await add(here, 'for the developer', { author_id: people.owner.id }), people.developer.id);
  const mine = here.as('developer');
  assert.deepEqual(await titles(mine, '/issues'), ['of the developer']);
  assert.deepEqual(await titles(mine, '/issues', { scope: 'created-by-me' }), ['of the developer']);
  assert.deepEqual(await titles(mine, '/issues', { scope: 'assigned_to_me' }), ['for the developer']);
  assert.equal((await titles(mine, `/projects/${here.project.id}/issues`)).length, 2);
  assert.deepEqual(await titles(mine, `/projects/${here.project.id}/issues`, { scope: 'assigned-to-me' }), [
    'for the developer',
  ]);
  assert.equal((await here.as('anonymous').get('/issues')).status, 401);
  assert.equal((await here.as('anonymous').get('/issues_statistics')).status, 401);
  assert.deepEqual(await titles(here.as('anonymous'), '/issues', { scope: 'all' }), []);
  await show(here, 'public');
  assert.equal((await titles(here.as('anonymous'), '/issues', { scope: 'all' })).length, 2);
  assert.deepEqual(
    await titles(here.as('anonymous'), `/projects/${here.project.id}/issues`, { scope: 'created_by_me' }),
    [],
  );
  await show(here, 'private');
});

test('callers who may not read the issues do not find the list, or the issues in it', async () => {
  const here = await world({});
  await add(here, 'hidden');
  assert.equal((await here.as('outsider').get(`/projects/${here.project.id}/issues`)).status, 404);
  assert.equal((await here.as('outsider').get(`/groups/${here.group.id}/issues_statistics`)).status, 404);
  assert.deepEqual(await titles(here.as('outsider'), '/issues', { scope: 'all' }), []);
  const keep = (issues_access_level: 'disabled' | 'private') =>
    here.db.updateTable('projects').set({ issues_access_level }).where('id', '=', here.project.id).execute();
  await show(here, 'public');
  await keep('private');
  assert.equal((await here.as('outsider').get(`/projects/${here.project.id}/issues`)).status, 404);
  assert.deepEqual(await titles(here.as('outsider'), `/groups/${here.group.id}/issues`), []);
  assert.deepEqual(await everywhere(here, {}), ['hidden']);
  await keep('disabled');
  assert.equal((await here.as('owner').get(`/projects/${here.project.id}/issues`)).status, 404);
  assert.deepEqual(await titles(here.as('owner'), '/issues', { scope: 'all' }), []);
  await show(here, 'private');
});

test('confidential issues are visible to planners and above, their authors and assignees, and administrators', async () => {
  const here = await world({});
  const { people } = here;
  await add(here, 'plain');
  await add(here, 'secret of the guest', { confidential: true, author_id: people.guest.id });
  await assign(here, await add(here, 'secret for the guest', { confidential: true }), people.guest.id);
  await add(here, 'secret', { confidential: true });
  for (const path of lists(here)) {
    const seen = (persona: 'guest' | 'planner' | 'admin', more = {}) =>
      titles(here.as(persona), path, { scope: 'all', ...more, created_after: '2000-01-01' });
    assert.deepEqual(await seen('guest'), ['secret for the guest', 'secret of the guest', 'plain']);
    assert.equal((await seen('planner')).length, 4);
    assert.deepEqual(await seen('guest', { confidential: false }), ['plain']);
    assert.deepEqual(await seen('guest', { confidential: true }), ['secret for the guest', 'secret of the guest']);
    assert.equal((await seen('admin', { confidential: true, author_id: people.developer.id })).length, 2);
  }
  const { body } = await here.as('guest').get(`/projects/${here.project.id}/issues_statistics`);
  assert.deepEqual(body, { statistics: { counts: { all: 3, closed: 0, opened: 3 } } });
});

test('label filters match all exact titles, None, Any and whole scopes', async () => {
  const here = await world({});
  const [bug, urgent, low] = [
    await addLabel(here, 'bug'),
    await addLabel(here, 'urgent', { group_id: here.group.id }),
    await addLabel(here, 'level::low'),
  ];
  const [high, deep] = [await addLabel(here, 'level::high'), await addLabel(here, 'level::deep::one')];
  await add(here, 'bare');
  await label(here, await add(here, 'a'), bug);
  await label(here, await add(here, 'b'), bug, urgent, low);
  await label(here, await add(here, 'c'), high);
  await label(here, await add(here, 'd'), deep);
  const with_ = (labels: unknown) => everywhere(here, { labels });
  assert.deepEqual(await with_('bug'), ['b', 'a']);
  assert.deepEqual(await with_('bug, urgent'), ['b']);
  assert.deepEqual(await with_(['bug', 'urgent']), ['b']);
  assert.deepEqual(await with_('Bug'), []);
  assert.deepEqual(await with_('bug,unknown'), []);
  for (const none of ['None', 'none', 'No Label']) assert.deepEqual(await with_(none), ['bare']);
  for (const any of ['Any', 'ANY']) assert.deepEqual(await with_(any), ['d', 'c', 'b', 'a']);
  assert.deepEqual(await with_('level::*'), ['c', 'b']);
  assert.deepEqual(await with_('level::deep::*'), ['d']);
  assert.deepEqual(await with_('level::*,bug'), ['b']);
  assert.equal((await with_('')).length, 5);
  assert.deepEqual(await everywhere(here, { not: { labels: 'bug,level::high' } }), ['d', 'bare']);
  assert.deepEqual(await everywhere(here, { not: { labels: 'level::*' } }), ['d', 'a', 'bare']);
  assert.deepEqual(await everywhere(here, { not: { labels: 'Any' } }), ['bare']);
  assert.equal((await everywhere(here, { not: { labels: 'unknown' } })).length, 5);
  const { body } = await here
    .as('guest')
    .get(`/projects/${here.project.id}/issues`, { labels: 'urgent', with_labels_details: true });
  assert.deepEqual(
    body[0].labels.map(({ name }: { name: string }) => name),
    ['bug', 'level::low', 'urgent'],
  );
});

test('milestone filters match titles, None, Any, Started and Upcoming', async () => {
  const here = await world({});
  const { db, project, group } = here;
  const addMilestone = async (title: string, values: Partial<Insertable<DB['milestones']>>) =>
    (
      await db
        .insertInto('milestones')
        .values({ title, iid: ++numbers, project_id: project.id, ...values })
        .returning('id')
        .executeTakeFirstOrThrow()
    ).id;
  const of = (milestone_id: number) => ({ milestone_id });
  await add(here, 'none');
  await add(here, 'next', of(await addMilestone('1.0', { due_date: dayFromNow(3) })));
  await add(here, 'later', of(await addMilestone('2.0', { due_date: dayFromNow(9), start_date: dayFromNow(2) })));
  await add(
    here,
    'closed',
    of(await addMilestone('0.9', { due_date: dayFromNow(2), start_date: dayFromNow(-9), state: 'closed' })),
  );
  await add(here, 'running', of(await addMilestone('0.8', { due_date: dayFromNow(0), start_date: dayFromNow(-1) })));
  await add(
    here,
    'next of group',
    of(
      await addMilestone('G', {
        project_id: null,
        group_id: group.id,
        due_date: dayFromNow(30),
        start_date: dayFromNow(0),
      }),
    ),
  );
  assert.deepEqual(await everywhere(here, { milestone: '1.0' }), ['next']);
  assert.deepEqual(await everywhere(here, { milestone: 'unknown' }), []);
  assert.deepEqual(await everywhere(here, { milestone: 'None' }), ['none']);
  assert.equal((await everywhere(here, { milestone: 'Any' })).length, 5);
  assert.deepEqual(await everywhere(here, { milestone_id: 'None' }), ['none']);
  assert.equal((await everywhere(here, { milestone_id: 'Any' })).length, 5);
  assert.deepEqual(await everywhere(here, { milestone_id: 'Upcoming' }), ['next of group', 'next']);
  assert.deepEqual(await everywhere(here, { milestone_id: 'Started' }), ['next of group', 'running']);
  assert.deepEqual(await everywhere(here, { not: { milestone: '1.0' } }), [
    'next of group',
    'running',
    'closed',
    'later',
    'none',
  ]);
  assert.deepEqual(await everywhere(here, { not: { milestone_id: 'Started' } }), ['closed', 'later', 'next']);
  assert.deepEqual(await everywhere(here, { not: { milestone_id: 'Upcoming' } }), ['running', 'closed', 'later']);
  assert.deepEqual(await everywhere(here, { not: { milestone_id: 'Any' } }), ['none']);
});

test('author and assignee filters match ids and usernames, and all named assignees', async () => {
  const here = await world({});
  const { people } = here;
  const [guest, planner] = [people.guest, people.planner];
  await add(here, 'nobody', { author_id: guest.id });
  await assign(here, await add(here, 'guest'), guest.id);
  await assign(here, await add(here, 'both', { closed_by_id: planner.id, state: 'closed' }), guest.id, planner.id);
  assert.deepEqual(await everywhere(here, { author_id: guest.id }), ['nobody']);
  assert.deepEqual(await everywhere(here, { author_username: guest.username.toUpperCase() }), ['nobody']);
  assert.deepEqual(await everywhere(here, { author_username: 'unknown' }), []);
  assert.deepEqual(await everywhere(here, { not: { author_id: guest.id } }), ['both', 'guest']);
  assert.deepEqual(await everywhere(here, { not: { author_username: guest.username } }), ['both', 'guest']);
  assert.deepEqual(await everywhere(here, { assignee_id: guest.id }), ['both', 'guest']);
  for (const none of ['None', 'none', '0']) assert.deepEqual(await everywhere(here, { assignee_id: none }), ['nobody']);
  assert.deepEqual(await everywhere(here, { assignee_id: 'any' }), ['both', 'guest']);
  assert.deepEqual(await everywhere(here, { assignee_username: [guest.username] }), ['both', 'guest']);
  assert.deepEqual(await everywhere(here, { assignee_username: [guest.username, planner.username] }), ['both']);
  assert.deepEqual(await everywhere(here, { not: { assignee_id: planner.id } }), ['guest', 'nobody']);
  assert.deepEqual(await everywhere(here, { not: { assignee_username: planner.username } }), ['guest', 'nobody']);
  assert.deepEqual(await everywhere(here, { closed_by_id: planner.id }), ['both']);
});

test('filters by iid, time, type and reaction', async () => {
  const here = await world({});
  const { db, people } = here;
  const first = await add(here, 'first', {
    created_at: '2020-01-01T00:00:00.123456Z',
    updated_at: '2020-02-01T00:00:00Z',
    issue_type: 'incident',
  });
  const second = await add(here, 'second', { created_at: '2021-01-01T00:00:00Z', updated_at: '2021-02-01T00:00:00Z' });
  const iid = numbers;
  await db
    .insertInto('award_emoji')
    .values([
      { name: 'rocket', user_id: people.reporter.id, issue_id: first },
      { name: 'eyes', user_id: people.owner.id, issue_id: second },
      { name: 'thumbsup', user_id: people.reporter.id, issue_id: first },
    ])
    .execute();
  assert.deepEqual(await everywhere(here, { iids: [iid] }), ['second']);
  assert.deepEqual(await everywhere(here, { iids: `${iid - 1},${iid}` }), ['second', 'first']);
  assert.deepEqual(await everywhere(here, { not: { iids: String(iid) } }), ['first']);
  assert.deepEqual(await everywhere(here, { created_before: '2020-01-01T00:00:00.123Z' }), ['first']);
  assert.deepEqual(await everywhere(here, { created_before: '2020-01-01T00:00:00.122Z' }), []);
  assert.deepEqual(await everywhere(here, { created_after: '2021-01-01T01:00:00+01:00' }), ['second']);
  assert.deepEqual(await everywhere(here, { updated_after: '2020-02-01', updated_before: '2020-03-01' }), ['first']);
  assert.deepEqual(await everywhere(here, { issue_type: 'incident' }), ['first']);
  assert.deepEqual(await everywhere(here, { my_reaction_emoji: 'rocket' }), ['first']);
  assert.deepEqual(
    await everywhere(here, { my_reaction_emoji: '+1' }),
    ['first'],
    'as it was written when it was added',
  );
  assert.deepEqual(await everywhere(here, { my_reaction_emoji: 'eyes' }), []);
  assert.deepEqual(await everywhere(here, { my_reaction_emoji: 'Any' }), ['first']);
  assert.deepEqual(await everywhere(here, { my_reaction_emoji: 'None' }), ['second']);
});

test('due date filters match days and ranges', async () => {
  const here = await world({});
  await add(here, 'never');
  for (const days of [-1, 0, 1]) await add(here, String(days), { due_date: dayFromNow(days) });
  assert.deepEqual(await everywhere(here, { due_date: '0' }), ['never']);
  assert.deepEqual(await everywhere(here, { due_date: 'any' }), ['1', '0', '-1']);
  assert.deepEqual(await everywhere(here, { due_date: 'today' }), ['0']);
  assert.deepEqual(await everywhere(here, { due_date: 'tomorrow' }), ['1']);
  assert.deepEqual(await everywhere(here, { due_date: 'overdue' }), ['-1']);
  assert.deepEqual(await everywhere(here, { due_date: 'next_month_and_previous_two_weeks' }), ['1', '0', '-1']);
  assert.equal((await everywhere(here, { due_date: '' })).length, 4);
});

test('search finds words anywhere in title and description, in any case', async () => {
  const here = await world({});
  await add(here, 'Login page is broken', { description: 'The BUTTON does nothing.' });
  await add(here, 'Broken windows', { description: '100% of them_all' });
  await add(here, 'UI');
  const search = (text: string, more = {}) => everywhere(here, { search: text, ...more });
  assert.deepEqual(await search('broken'), ['Broken windows', 'Login page is broken']);
  assert.deepEqual(await search('broken button'), ['Login page is broken']);
  assert.deepEqual(await search('"page is"'), ['Login page is broken']);
  assert.deepEqual(await search('"is page"'), []);
  assert.deepEqual(await search('button', { in: 'title' }), []);
  assert.deepEqual(await search('button', { in: 'description' }), ['Login page is broken']);
  assert.deepEqual(await search('button', { in: 'title,description' }), ['Login page is broken']);
  assert.deepEqual(await search('button', { in: 'author' }), ['Login page is broken']);
  assert.deepEqual(await search('100% of'), ['Broken windows']);
  assert.deepEqual(await search('them_all'), ['Broken windows']);
  assert.deepEqual(await search('them.all'), []);
  assert.deepEqual(await search('ui'), ['UI']);
  assert.deepEqual(await search('is'), ['Login page is broken']);
  assert.deepEqual(await search('is ui'), []);
  assert.equal((await search(' ')).length, 3);
});

test('a search that too many issues match to be counted shows what was added since', async () => {
  const here = await world({});
  await sql`
    insert into issues (project_id, iid, title, author_id)
    select ${here.project.id}::bigint, n, 'quince ' || n, ${here.people.developer.id}::bigint from generate_series(1, 10002) n`.execute(
    here.db,
  );
  numbers = 10_002;
  const path = `/projects/${here.project.id}/issues`;
  for (const added of ['a quince', 'another Quince']) {
    const id = await add(here, added);
    const first = await here.as('reporter').get(path, { search: 'quince', per_page: 2, order_by: 'created_at' });
    assert.equal(first.body[0].id, id);
    assert.equal(first.body.length, 2);
    assert.equal(first.headers.get('x-total'), null);
    const far = await here
      .as('reporter')
      .get(path, { search: 'quince', per_page: 2, order_by: 'title', sort: 'desc', page: 2 });
    assert.deepEqual(
      far.body.map(({ title }: { title: string }) => title),
      ['quince 9997', 'quince 9996'],
    );
  }
});

test('Premium and Ultimate add filters by weight, iteration, epic and health status', async () => {
  const here = await world({});
  const { db, group, people } = here;
  const cadence = await db
    .insertInto('iteration_cadences')
    .values({ group_id: group.id, title: 'c' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const addIteration = async (title: string | null, from: number, until: number) =>
    (
      await db
        .insertInto('iterations')
        .values({
          cadence_id: cadence.id,
          group_id: group.id,
          iid: ++numbers,
          sequence: numbers,
          title,
          start_date: dayFromNow(from),
          due_date: dayFromNow(until),
        })
        .returning('id')
        .executeTakeFirstOrThrow()
    ).id;
  const [current, past] = [await addIteration('now', -2, 2), await addIteration('then', -20, -10)];
  const epic = await db
    .insertInto('epics')
    .values({ group_id: group.id, iid: 1, title: 'e', author_id: people.owner.id })
    .returning('id')
    .executeTakeFirstOrThrow();
  const epical = await add(here, 'three', { weight: 3, iteration_id: current, health_status: 'at_risk' });
  await db.insertInto('epic_issues').values({ epic_id: epic.id, issue_id: epical, relative_position: 1 }).execute();
  await add(here, 'zero', { weight: 0, iteration_id: past });
  await add(here, 'bare');
  for (const [parameters, expected] of [
    [{ weight: '3' }, ['three']],
    [{ weight: '0' }, ['zero']],
    [{ weight: 'None' }, ['bare']],
    [{ weight: 'any' }, ['zero', 'three']],
    [{ not: { weight: 3 } }, ['bare', 'zero']],
    [{ iteration_id: String(current) }, ['three']],
    [{ iteration_id: 'Current' }, ['three']],
    [{ iteration_id: 'None' }, ['bare']],
    [{ iteration_id: 'Any' }, ['zero', 'three']],
    [{ iteration_title: 'then' }, ['zero']],
    [{ not: { iteration_id: current } }, ['bare', 'zero']],
    [{ not: { iteration_id: 'Current' } }, ['bare', 'zero']],
    [{ not: { iteration_title: 'now' } }, ['bare', 'zero']],
    [{ epic_id: String(epic.id) }, ['three']],
    [{ epic_id: 'None' }, ['bare', 'zero']],
    [{ epic_id: 'Any' }, ['three']],
    [{ health_status: 'at_risk' }, ['three']],
    [{ health_status: 'none' }, ['bare', 'zero']],
    [{ health_status: 'Any' }, ['three']],
  ] as const)
    assert.deepEqual(await everywhere(here, parameters), expected, JSON.stringify(parameters));
});

test('malformed or contradictory filters are refused by name', async () => {
  const here = await world({});
  for (const [parameters, text] of [
    [{ author_id: 1, author_username: 'a' }, 'author_id, author_username are mutually exclusive'],
    [{ assignee_id: 1, assignee_username: 'a' }, 'assignee_id, assignee_username are mutually exclusive'],
    [{ milestone: 'a', milestone_id: 'Any' }, 'milestone, milestone_id are mutually exclusive'],
    [{ iteration_id: 1, iteration_title: 'a' }, 'iteration_id, iteration_title are mutually exclusive'],
    [{ not: { author_id: 1, author_username: 'a' } }, 'not[author_id], not[author_username] are mutually exclusive'],
    [{ not: { milestone: 'a', milestone_id: 'Any' } }, 'not[milestone], not[milestone_id] are mutually exclusive'],
    [{ assignee_id: 'me' }, 'assignee_id should be an integer, none, or any, however got me'],
    [{ not: { assignee_id: 'me' } }, 'not[assignee_id] should be an integer, none, or any, however got me'],
    [{ weight: 'heavy' }, 'weight should be an integer, none, or any, however got heavy'],
    [{ epic_id: 'x' }, 'epic_id should be an integer, none, or any, however got x'],
    [{ iteration_id: 'x' }, 'iteration_id should be an integer, none, any, or current, however got x'],
    [{ milestone_id: '3' }, 'milestone_id does not have a valid value'],
    [{ milestone_id: 'none' }, 'milestone_id does not have a valid value'],
    [{ state: 'open' }, 'state does not have a valid value'],
    [{ scope: 'mine' }, 'scope does not have a valid value'],
    [{ due_date: 'yesterday' }, 'due_date does not have a valid value'],
    [{ order_by: 'id' }, 'order_by does not have a valid value'],
    [{ sort: 'up' }, 'sort does not have a valid value'],
    [{ issue_type: 'bug' }, 'issue_type does not have a valid value'],
    [{ health_status: 'fine' }, 'health_status does not have a valid value'],
    [{ created_after: 'soon' }, 'created_after is invalid'],
    [{ updated_before: 'soon' }, 'updated_before is invalid'],
    [{ confidential: 'perhaps' }, 'confidential is invalid'],
    [{ author_id: 'x' }, 'author_id is invalid'],
    [{ iids: 'x' }, 'iids is invalid'],
    [{ search: Array.from({ length: 65 }, (_, n) => `word${n}`).join(' ') }, 'search has more than 64 terms'],
    [{ per_page: 0 }, 'per_page has a value not allowed'],
  ] as const)
    for (const path of lists(here)) {
      const { status, body } = await here.as('reporter').get(path, parameters);
      assert.deepEqual([status, body.error], [400, text], `${path} ${JSON.stringify(parameters)}`);
    }
});

test('a group list includes subgroups, and archived projects only on request', async () => {
  const here = await world({});
  const owner = here.as('owner');
  const below = await owner.post('/groups', { name: 'below', path: 'below', parent_id: here.group.id });
  const inside = await owner.post('/projects', { name: 'inside', namespace_id: below.body.id });
  await add(here, 'above');
  await add(here, 'below', { project_id: inside.body.id, iid: 1 });
  assert.deepEqual(await titles(owner, `/groups/${here.group.id}/issues`), ['below', 'above']);
  assert.deepEqual(await titles(owner, `/groups/${below.body.id}/issues`), ['below']);
  assert.equal((await owner.post(`/projects/${inside.body.id}/archive`)).status, 201);
  assert.deepEqual(await titles(owner, `/groups/${here.group.id}/issues`), ['above']);
  assert.deepEqual(await titles(owner, `/groups/${here.group.id}/issues`, { non_archived: false }), ['below', 'above']);
  assert.deepEqual(await titles(owner, '/issues', { scope: 'all' }), ['above']);
  assert.deepEqual(await titles(owner, `/projects/${inside.body.id}/issues`, { non_archived: true }), ['below']);
});

test('statistics count the filtered issues by state', async () => {
  const here = await world({});
  const bug = await addLabel(here, 'bug');
  await label(here, await add(here, 'a'), bug);
  await label(here, await add(here, 'b', { state: 'closed' }), bug);
  await add(here, 'c', { state: 'closed' });
  for (const path of lists(here)) {
    const counts = async (parameters: object) =>
      (await here.as('reporter').get(`${path}_statistics`, { scope: 'all', ...parameters })).body.statistics.counts;
    assert.deepEqual(await counts({}), { all: 3, closed: 2, opened: 1 });
    assert.deepEqual(await counts({ labels: 'bug' }), { all: 2, closed: 1, opened: 1 });
    assert.deepEqual(await counts({ not: { labels: 'bug' } }), { all: 1, closed: 1, opened: 0 });
    // Not one of its parameters, so it is ignored.
    assert.deepEqual(await counts({ state: 'closed', issue_type: 'incident' }), { all: 3, closed: 2, opened: 1 });
    assert.equal((await here.as('reporter').get(`${path}_statistics`, { milestone_id: '1' })).status, 400);
  }
  assert.deepEqual((await here.as('reporter').get('/issues_statistics')).body.statistics.counts, {
    all: 0,
    closed: 0,
    opened: 0,
  });
});
