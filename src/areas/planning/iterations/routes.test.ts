import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { daysFromNow } from '../../../cron/index.ts';
import { createGroup } from '../../spaces/groups/index.ts';
import { rollIssuesOver } from '../../work/issues/index.ts';
import { advanceIterations } from './index.ts';

const weekly = () => ({ title: 'Sprints', start_date: daysFromNow(0), duration_in_weeks: 1, iterations_in_advance: 2 });

interface Listed {
  id: number;
  sequence: number;
  state: number;
  start_date: string;
  due_date: string;
}
const spans = (answer: { body: Listed[] }) =>
  answer.body.map(({ sequence, state, start_date, due_date }) => [sequence, state, start_date, due_date]);

/** Lets days pass: moves everything in the cadence that far into the past. */
const passDays = ({ db }: World, cadence_id: number, days: number) =>
  db.transaction().execute(async (tx) => {
    await sql`set constraints iterations_do_not_overlap deferred`.execute(tx);
    await sql`update iterations set start_date = start_date - ${days}::integer, due_date = due_date - ${days}::integer
               where cadence_id = ${cadence_id}`.execute(tx);
  });

async function issueIn(
  { db, people, project }: World,
  iteration_id: number,
  iid: number,
  state = 'opened',
): Promise<number> {
  const { id } = await db
    .insertInto('issues')
    .values({ project_id: project.id, iid, title: 'Ripen', author_id: people.owner.id, iteration_id, state })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

test('an automatic cadence creates the current iteration and those in advance', async () => {
  const { as, group } = await world();
  const url = `/groups/${group.id}/iteration_cadences`;
  const added = await as('planner').post(url, weekly());
  assert.equal(added.status, 201);
  const { id, created_at } = added.body;
  assert.deepEqual(added.body, {
    ...weekly(),
    id,
    group_id: group.id,
    description: null,
    active: true,
    automatic: true,
    roll_over: false,
    created_at,
    updated_at: created_at,
  });
  assert.deepEqual((await as('guest').get(url)).body, [added.body]);
  assert.deepEqual((await as('guest').get(`${url}/${id}`)).body, added.body);
  const listed = await as('guest').get(`/groups/${group.id}/iterations`);
  assert.deepEqual(spans(listed), [
    [1, 2, daysFromNow(0), daysFromNow(6)],
    [2, 1, daysFromNow(7), daysFromNow(13)],
    [3, 1, daysFromNow(14), daysFromNow(20)],
  ]);
  const [first] = listed.body;
  assert.deepEqual(first, {
    id: first.id,
    iid: 1,
    sequence: 1,
    group_id: group.id,
    title: null,
    description: null,
    state: 2,
    created_at: first.created_at,
    updated_at: first.updated_at,
    start_date: daysFromNow(0),
    due_date: daysFromNow(6),
    web_url: `http://coppice.test/groups/${group.full_path}/-/iterations/${first.id}`,
  });
});

test('iterations end, start and are created every day, and open issues roll over', async () => {
  const here = await world();
  const { as, group, services, db, project } = here;
  const { id } = (await as('planner').post(`/groups/${group.id}/iteration_cadences`, { ...weekly(), roll_over: true }))
    .body;
  const url = `/groups/${group.id}/iterations`;
  const [first, second] = (await as('guest').get(url)).body;
  const issues = [await issueIn(here, first.id, 1), await issueIn(here, first.id, 2, 'closed')];

  await performJob(services, advanceIterations);
  assert.equal((await as('guest').get(url)).body.length, 3);
  await passDays(here, id, 8);
  await performJob(services, advanceIterations);
  await performQueued(services, [rollIssuesOver]);
  assert.deepEqual(spans(await as('guest').get(url)), [
    [1, 3, daysFromNow(-8), daysFromNow(-2)],
    [2, 2, daysFromNow(-1), daysFromNow(5)],
    [3, 1, daysFromNow(6), daysFromNow(12)],
    [4, 1, daysFromNow(13), daysFromNow(19)],
  ]);
  const rows = await db
    .selectFrom('issues')
    .select(['id', 'iteration_id'])
    .where('id', 'in', issues)
    .orderBy('id')
    .execute();
  assert.deepEqual(rows, [
    { id: issues[0], iteration_id: second.id },
    { id: issues[1], iteration_id: first.id },
  ]);
  const events = (await as('guest').get(`/projects/${project.id}/issues/1/resource_iteration_events`)).body;
  assert.deepEqual(
    events.map((event: { user: null; action: string; iteration: Listed }) => [
      event.user,
      event.action,
      event.iteration.id,
    ]),
    [[null, 'add', second.id]],
  );

  // The server was off for months: iterations for that time are not created.
  await passDays(here, id, 70);
  await performJob(services, advanceIterations);
  const later = (await as('guest').get(url, { state: 'opened' })).body;
  assert.deepEqual(
    later.map(({ state }: Listed) => state),
    [2, 1, 1],
  );
  assert.equal((await as('guest').get(url)).body.length, 7);
});

test('a new schedule moves upcoming iterations, but not those that have started', async () => {
  const { as, group } = await world();
  const cadences = `/groups/${group.id}/iteration_cadences`;
  const url = `/groups/${group.id}/iterations`;
  const { id } = (await as('planner').post(cadences, weekly())).body;
  const before = (await as('guest').get(url)).body;
  const changed = await as('planner').put(`${cadences}/${id}`, { duration_in_weeks: 3, iterations_in_advance: 3 });
  assert.equal(changed.body.duration_in_weeks, 3);
  const after = await as('guest').get(url);
  assert.deepEqual(spans(after), [
    [1, 2, daysFromNow(0), daysFromNow(6)],
    [2, 1, daysFromNow(7), daysFromNow(27)],
    [3, 1, daysFromNow(28), daysFromNow(48)],
    [4, 1, daysFromNow(49), daysFromNow(69)],
  ]);
  assert.deepEqual(
    after.body.slice(0, 3).map((iteration: Listed) => iteration.id),
    before.map((iteration: Listed) => iteration.id),
  );
  await as('planner').put(`${cadences}/${id}`, { start_date: daysFromNow(10) });
  assert.equal((await as('guest').get(url)).body[1].start_date, daysFromNow(10));
  await as('planner').put(`${cadences}/${id}`, { active: false, iterations_in_advance: 10 });
  assert.equal((await as('guest').get(url)).body.length, 4);

  assert.equal((await as('planner').delete(`${cadences}/${id}`)).status, 204);
  assert.deepEqual((await as('guest').get(url)).body, []);
  const gone = await as('guest').get(`${cadences}/${id}`);
  assert.deepEqual([gone.status, gone.body], [404, { message: '404 Iteration Cadence Not Found' }]);
});

test('iterations are added to a manual cadence, and never overlap', async () => {
  const { as, group } = await world();
  const cadences = `/groups/${group.id}/iteration_cadences`;
  const { id } = (await as('planner').post(cadences, { title: 'By hand', automatic: false })).body;
  const url = `${cadences}/${id}/iterations`;
  const later = await as('planner').post(url, {
    title: 'Later',
    start_date: daysFromNow(10),
    due_date: daysFromNow(20),
  });
  assert.deepEqual([later.status, later.body.title, later.body.sequence, later.body.state], [201, 'Later', 1, 1]);
  assert.equal(
    (await as('planner').post(url, { start_date: daysFromNow(-5), due_date: daysFromNow(-1) })).body.state,
    3,
  );
  assert.deepEqual(
    (await as('guest').get(`/groups/${group.id}/iterations`)).body.map(
      ({ iid, sequence }: { iid: number; sequence: number }) => [iid, sequence],
    ),
    [
      [2, 1],
      [1, 2],
    ],
  );
  for (const [fields, message] of [
    [
      { start_date: daysFromNow(20), due_date: daysFromNow(30) },
      { base: ['Dates cannot overlap with other existing Iterations within this iterations cadence'] },
    ],
    [{ start_date: daysFromNow(40), due_date: daysFromNow(39) }, { due_date: ['must be on or after the start date'] }],
    [{ start_date: 'soon' }, 'start_date is invalid, due_date is missing'],
  ] as const) {
    const refused = await as('planner').post(url, { ...fields });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  const automatic = (await as('planner').post(cadences, weekly())).body.id;
  const refused = await as('planner').post(`${cadences}/${automatic}/iterations`, {
    start_date: daysFromNow(90),
    due_date: daysFromNow(91),
  });
  assert.deepEqual(refused.body.message, { base: ['Iterations of an automatic cadence are made by the cadence'] });
  assert.equal(
    (await as('planner').post(`${cadences}/0/iterations`, { start_date: daysFromNow(1), due_date: daysFromNow(2) }))
      .status,
    404,
  );
});

test('cadences of an archived group are shown, but neither they nor their iterations change', async () => {
  const { as, group, db } = await world();
  const url = `/groups/${group.id}/iteration_cadences`;
  const { id } = (await as('planner').post(url, { title: 'By hand', automatic: false })).body;
  await db.updateTable('namespaces').set({ archived: true }).where('id', '=', group.id).execute();
  const before = (await as('guest').get(`${url}/${id}`)).body;
  const days = { start_date: daysFromNow(1), due_date: daysFromNow(2) };
  for (const refused of [
    await as('owner').post(url, weekly()),
    await as('owner').put(`${url}/${id}`, { title: 'Other' }),
    await as('owner').post(`${url}/${id}/iterations`, days),
    await as('owner').delete(`${url}/${id}`),
  ])
    assert.deepEqual([refused.status, refused.body.message], [403, '403 Forbidden - The group is archived.']);
  assert.deepEqual((await as('guest').get(url)).body, [before]);
  await db.updateTable('namespaces').set({ archived: false }).where('id', '=', group.id).execute();
  assert.equal((await as('planner').post(`${url}/${id}/iterations`, days)).status, 201);
});

test('an invalid cadence is refused with reasons by field', async () => {
  const { as, group } = await world();
  const url = `/groups/${group.id}/iteration_cadences`;
  const blank = ["can't be blank"];
  for (const [fields, message] of [
    [{ title: ' ' }, { title: blank, start_date: blank, duration_in_weeks: blank, iterations_in_advance: blank }],
    [{ ...weekly(), duration_in_weeks: 5 }, 'duration_in_weeks does not have a valid value'],
    [{ ...weekly(), start_date: '9001-01-01' }, { start_date: ['must be on or before 9000-12-31'] }],
    [{}, 'title is missing'],
  ] as const) {
    const refused = await as('planner').post(url, { ...fields });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  assert.deepEqual((await as('guest').get(url)).body, []);
  const { id } = (await as('planner').post(url, weekly())).body;
  assert.equal((await as('planner').put(`${url}/${id}`, { start_date: null })).status, 400);
  assert.equal((await as('planner').put(`${url}/${id}`, {})).status, 400);
  assert.equal((await as('guest').put(`${url}/${id}`, { title: 'mine' })).status, 403);
  assert.equal((await as('outsider').get(url)).status, 404);
  assert.equal((await as('anonymous').get(url)).status, 401);
});

test('lists of groups and projects support every filter', async () => {
  const here = await world();
  const { as, group, project, db, people } = here;
  const below = await db
    .transaction()
    .execute((tx) =>
      createGroup(tx, { name: 'below', path: 'below', parent_id: group.id, creator_id: people.owner.id }),
    );
  const add = async (group_id: number, title: string, from: number) => {
    const cadences = `/groups/${group_id}/iteration_cadences`;
    const { id } = (await as('owner').post(cadences, { title: `Rhythm of ${title}`, automatic: false })).body;
    await as('owner').post(`${cadences}/${id}/iterations`, {
      title,
      start_date: daysFromNow(from),
      due_date: daysFromNow(from + 2),
    });
  };
  await add(group.id, 'past', -10);
  await add(group.id, 'now', -1);
  await add(below, 'future', 10);
  await db.updateTable('iterations').set({ updated_at: '2020-01-01T00:00:00Z' }).where('title', '=', 'past').execute();
  const titles = async (url: string, filters: object) =>
    (await as('owner').get(url, { ...filters })).body.map(({ title }: { title: string }) => title);
  const top = `/groups/${group.id}/iterations`;
  for (const [filters, expected] of [
    [{}, ['past', 'now']],
    [{ state: 'closed' }, ['past']],
    [{ state: 'current' }, ['now']],
    [{ state: 'upcoming', include_descendants: true }, ['future']],
    [{ state: 'opened', include_descendants: true }, ['now', 'future']],
    [{ state: 'all' }, ['past', 'now']],
    [{ search: 'PAS' }, ['past']],
    [{ search: 'rhythm' }, []],
    [{ search: 'rhythm', in: ['cadence_title'] }, ['past', 'now']],
    [{ search: 'now', in: ['title', 'cadence_title'] }, ['now']],
    [{ updated_before: '2020-01-02' }, ['past']],
    [{ updated_after: '2020-01-02' }, ['now']],
  ] as const)
    assert.deepEqual(await titles(top, filters), expected, JSON.stringify(filters));
  assert.deepEqual(await titles(`/groups/${below}/iterations`, {}), ['past', 'now', 'future']);
  assert.deepEqual(await titles(`/groups/${below}/iterations`, { include_ancestors: false }), ['future']);
  assert.deepEqual(await titles(`/projects/${project.id}/iterations`, {}), ['past', 'now']);
  await db.updateTable('projects').set({ namespace_id: below }).where('id', '=', project.id).execute();
  assert.deepEqual(await titles(`/projects/${project.id}/iterations`, {}), ['past', 'now', 'future']);
  assert.deepEqual(await titles(`/projects/${project.id}/iterations`, { include_ancestors: false }), ['future']);
  for (const [filters, message] of [
    [{ state: 'started' }, 'state does not have a valid value'],
    [{ in: ['body'] }, 'in does not have a valid value'],
    [{ updated_after: 'x' }, 'updated_after is invalid'],
  ] as const) {
    const refused = await as('owner').get(top, filters);
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
});
