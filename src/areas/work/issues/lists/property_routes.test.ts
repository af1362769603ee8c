/** Compares issue lists with a slow but simple computation: over random issues, filters, orders and pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { nextPath } from '../../../../../test/support/client.ts';
import { type Random, randomFrom } from '../../../../../test/support/random.ts';
import { runs } from '../../../../../test/support/runs.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { dayOf } from '../../../../cron/index.ts';
import { orderNames } from './order_rules.ts';

interface Issue {
  id: number;
  iid: number;
  project_id: number;
  title: string;
  description: string | null;
  state: 'opened' | 'closed';
  issue_type: 'issue' | 'incident';
  health_status: 'on_track' | 'at_risk' | null;
  author_id: number;
  confidential: boolean;
  milestone: Milestone | undefined;
  due_date: string | null;
  weight: number | null;
  relative_position: number | null;
  created_at: string;
  updated_at: string;
  labels: Label[];
  assignees: number[];
  /** Ids of the users who gave a thumbs-up. */
  voters: number[];
}

interface Label {
  id: number;
  project_id: number;
  title: string;
  priority: number | undefined;
}

interface Milestone {
  id: number;
  project_id: number;
  title: string;
  due_date: string | null;
}

type Person = 'admin' | 'guest' | 'planner' | 'outsider';

/** The issues and users of a run. */
interface Data {
  issues: Issue[];
  users: { id: number; username: string }[];
  /** The projects that a user sees, and those in which they see confidential issues. */
  sees(person: Person, project_id: number): 'nothing' | 'plain' | 'all';
  /** Those of the group. */
  grouped: number[];
  here: World;
}

const dayFromNow = (days: number) => dayOf(new Date(Date.now() + days * 86_400_000));
const moment = (random: Random) => new Date(Date.UTC(2020, 0, 1 + random.below(40))).toISOString();
const maybe = <T>(random: Random, percent: number, value: () => T): T | null =>
  random.happens(percent) ? value() : null;
/** A random subset of a list. */
const some = <T>(random: Random, list: readonly T[], percent: number) => list.filter(() => random.happens(percent));

const words = ['apple', 'Banana', 'cherry', 'apple pie', 'Zebra', 'date'];

async function addLabels({ db }: World, project_id: number): Promise<Label[]> {
  const labels: Label[] = [];
  for (const [index, title] of ['many', 'bug', 'level::low', 'level::high', 'rare'].entries()) {
    const { id } = await db
      .insertInto('labels')
      .values({ project_id, title, color: '#112233' })
      .returning('id')
      .executeTakeFirstOrThrow();
    const priority = index % 2 === 1 ? index : undefined;
    if (priority !== undefined)
      await db.insertInto('label_priorities').values({ project_id, label_id: id, priority }).execute();
    labels.push({ id, project_id, title, priority });
  }
  return labels;
}

async function addMilestones({ db }: World, project_id: number): Promise<Milestone[]> {
  const dates = [dayFromNow(-5), dayFromNow(3), dayFromNow(3), null];
  const values = dates.map((due_date, index) => ({ project_id, iid: index + 1, title: `m${index}`, due_date }));
  const rows = await db.insertInto('milestones').values(values).returning('id').execute();
  return rows.map(({ id }, index) => ({ id, ...values[index]! }));
}

/** Most issues have the label `many`: so many that a list of them is not collected before sorting. */
function drawn(
  random: Random,
  iid: number,
  project_id: number,
  labels: Label[],
  milestones: Milestone[],
  users: number[],
): Issue {
  return {
    id: 0,
    iid,
    project_id,
    title: random.of(words),
    description: maybe(random, 50, () => `${random.of(words)} and ${random.of(words)}`),
    state: random.of(['opened', 'closed']),
    issue_type: random.happens(10) ? 'incident' : 'issue',
    health_status: maybe(random, 10, () => random.of(['on_track', 'at_risk'])),
    author_id: random.of(users),
    confidential: random.happens(15),
    milestone: random.happens(50) ? random.of(milestones) : undefined,
    due_date: maybe(random, 30, () => dayFromNow(random.below(60) - 30)),
    weight: maybe(random, 40, () => random.below(4)),
    relative_position: maybe(random, 60, () => random.below(50)),
    created_at: moment(random),
    updated_at: moment(random),
    labels: labels.filter(({ title }) => random.happens(title === 'many' ? 97 : title === 'rare' ? 1 : 20)),
    assignees: some(random, users, 20),
    voters: random.happens(5) ? some(random, users, 50) : [],
  };
}

async function write({ db }: World, issues: Issue[]): Promise<void> {
  for (let from = 0; from < issues.length; from += 500) {
    const slice = issues.slice(from, from + 500);
    const rows = slice.map(
      ({ id: _id, milestone, labels: _labels, assignees: _assignees, voters: _voters, ...row }) => ({
        ...row,
        milestone_id: milestone?.id ?? null,
      }),
    );
    const written = await db.insertInto('issues').values(rows).returning('id').execute();
    for (const [index, { id }] of written.entries()) slice[index]!.id = id;
    const unplaced = slice.filter(({ relative_position }) => relative_position === null).map(({ id }) => id);
    await db.updateTable('issues').set({ relative_position: null }).where('id', 'in', unplaced).execute();
    await db
      .insertInto('issue_labels')
      .values(slice.flatMap(({ id, labels }) => labels.map((label) => ({ issue_id: id, label_id: label.id }))))
      .execute();
    await db
      .insertInto('issue_assignees')
      .values(slice.flatMap(({ id, assignees }) => assignees.map((user_id) => ({ issue_id: id, user_id }))))
      .execute();
    const votes = slice.flatMap(({ id, voters }) =>
      voters.map((user_id) => ({ issue_id: id, user_id, name: 'thumbsup' })),
    );
    if (votes.length > 0) await db.insertInto('award_emoji').values(votes).execute();
  }
}

/** One large project in the group, a small one in a group below it, and a public one elsewhere. */
async function someData(random: Random): Promise<Data> {
  const here = await world({});
  const { people, db } = here;
  const below = await here
    .as('owner')
    .post('/groups', { name: 'sub', path: `sub-${here.group.id}`, parent_id: here.group.id });
  const inside = await here.as('owner').post('/projects', { name: 'inside', namespace_id: below.body.id });
  const open = await here.as('owner').post('/projects', { name: `open-${here.group.id}` });
  await db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', open.body.id).execute();
  const users = [people.guest, people.planner, people.outsider];
  const issues: Issue[] = [];
  for (const [project_id, count] of [
    [here.project.id, 2200],
    [inside.body.id, 60],
    [open.body.id, 60],
  ] as const) {
    const labels = await addLabels(here, project_id);
    const milestones = await addMilestones(here, project_id);
    for (let iid = 1; iid <= count; iid++)
      issues.push(
        drawn(
          random,
          iid,
          project_id,
          labels,
          milestones,
          users.map(({ id }) => id),
        ),
      );
  }
  await write(here, issues);
  const grouped = [here.project.id, inside.body.id as number];
  const sees: Data['sees'] = (person, project_id) => {
    if (person === 'admin') return 'all';
    if (!grouped.includes(project_id)) return 'plain';
    return person === 'outsider' ? 'nothing' : person === 'planner' ? 'all' : 'plain';
  };
  return { issues, users, sees, grouped, here };
}

/** Empty public projects, more than a list names one by one. */
async function addManyProjects({ db, group, project }: World): Promise<void> {
  await sql`
    insert into projects (namespace_id, name, path, full_path, visibility, default_branch)
    select ${group.id}, 'empty-' || n, 'empty-' || n, ${`${project.full_path}-empty-`} || n, 'public', 'main'
      from generate_series(1, 1100) n`.execute(db);
}

type Test = (issue: Issue) => boolean;
type Parameters = Record<string, unknown> & { not?: Record<string, unknown> };

interface Draw {
  parameters: Parameters;
  tests: Test[];
}

const has = (issue: Issue, title: string) => issue.labels.some((label) => label.title === title);
const inScope = (issue: Issue) => issue.labels.some(({ title }) => title.startsWith('level::'));
const says = ({ title, description }: Issue, term: string) =>
  `${title}\0${description ?? ''}`.toLowerCase().includes(term);

/** One random filter, as parameters and as a predicate. */
function filterOf(random: Random, { users, issues }: Data, me: number): { parameters: Parameters; test: Test } {
  const title = random.of(['many', 'bug', 'rare', 'level::high', 'unknown']);
  const milestone = `m${random.below(5)}`;
  const user = random.of(users);
  const weight = random.below(4);
  const at = moment(random);
  const [first, second] = [random.of(issues).iid, random.of(issues).iid];
  return random.of<{ parameters: Parameters; test: Test }>([
    { parameters: { state: 'opened' }, test: ({ state }) => state === 'opened' },
    { parameters: { state: 'closed' }, test: ({ state }) => state === 'closed' },
    { parameters: { labels: title }, test: (issue) => has(issue, title) },
    { parameters: { labels: `many,${title}` }, test: (issue) => has(issue, title) && has(issue, 'many') },
    { parameters: { labels: 'none' }, test: ({ labels }) => labels.length === 0 },
    { parameters: { labels: 'Any' }, test: ({ labels }) => labels.length > 0 },
    { parameters: { labels: 'level::*' }, test: inScope },
    { parameters: { not: { labels: title } }, test: (issue) => !has(issue, title) },
    { parameters: { not: { labels: `bug,${title}` } }, test: (issue) => !has(issue, title) && !has(issue, 'bug') },
    { parameters: { milestone }, test: (issue) => issue.milestone?.title === milestone },
    { parameters: { milestone_id: 'None' }, test: (issue) => !issue.milestone },
    { parameters: { milestone_id: 'Any' }, test: (issue) => issue.milestone !== undefined },
    { parameters: { milestone_id: 'Upcoming' }, test: (issue) => issue.milestone?.title === 'm1' },
    { parameters: { not: { milestone } }, test: (issue) => issue.milestone?.title !== milestone },
    { parameters: { author_id: user.id }, test: ({ author_id }) => author_id === user.id },
    { parameters: { not: { author_username: user.username } }, test: ({ author_id }) => author_id !== user.id },
    { parameters: { assignee_username: [user.username] }, test: ({ assignees }) => assignees.includes(user.id) },
    { parameters: { assignee_id: 'None' }, test: ({ assignees }) => assignees.length === 0 },
    { parameters: { not: { assignee_id: user.id } }, test: ({ assignees }) => !assignees.includes(user.id) },
    { parameters: { my_reaction_emoji: 'thumbsup' }, test: ({ voters }) => voters.includes(me) },
    { parameters: { my_reaction_emoji: 'None' }, test: ({ voters }) => !voters.includes(me) },
    { parameters: { scope: 'assigned_to_me' }, test: ({ assignees }) => assignees.includes(me) },
    { parameters: { scope: 'created_by_me' }, test: ({ author_id }) => author_id === me },
    { parameters: { confidential: true }, test: ({ confidential }) => confidential },
    { parameters: { confidential: false }, test: ({ confidential }) => !confidential },
    { parameters: { created_after: at }, test: ({ created_at }) => created_at >= at },
    { parameters: { created_before: at }, test: ({ created_at }) => created_at <= at },
    { parameters: { updated_after: at }, test: ({ updated_at }) => updated_at >= at },
    { parameters: { due_date: 'overdue' }, test: ({ due_date }) => due_date !== null && due_date < dayFromNow(0) },
    { parameters: { due_date: '0' }, test: ({ due_date }) => due_date === null },
    { parameters: { search: 'apple' }, test: (issue) => says(issue, 'apple') },
    { parameters: { search: 'ebr and' }, test: (issue) => says(issue, 'ebr') && says(issue, 'and') },
    { parameters: { search: 'PIE', in: 'title' }, test: (issue) => issue.title.includes('pie') },
    { parameters: { weight }, test: (issue) => issue.weight === weight },
    { parameters: { weight: 'none' }, test: (issue) => issue.weight === null },
    { parameters: { not: { weight } }, test: (issue) => issue.weight !== weight },
    { parameters: { issue_type: 'incident' }, test: ({ issue_type }) => issue_type === 'incident' },
    { parameters: { issue_type: 'issue' }, test: ({ issue_type }) => issue_type === 'issue' },
    { parameters: { health_status: 'at_risk' }, test: ({ health_status }) => health_status === 'at_risk' },
    { parameters: { health_status: 'any' }, test: ({ health_status }) => health_status !== null },
    { parameters: { health_status: 'None' }, test: ({ health_status }) => health_status === null },
    { parameters: { iids: [first, second] }, test: ({ iid }) => iid === first || iid === second },
    { parameters: { not: { iids: `${first}` } }, test: ({ iid }) => iid !== first },
  ]);
}

/** Up to three filters; of parameters that repeat or exclude each other the last one wins. */
function draw(random: Random, data: Data, me: number): Draw {
  const byName = new Map<string, { parameters: Parameters; test: Test }>();
  for (let count = random.below(4); count > 0; count--) {
    const one = filterOf(random, data, me);
    const [name] = Object.keys(one.parameters);
    byName.set(name === 'milestone_id' ? 'milestone' : name === 'assignee_id' ? 'assignee_username' : name!, one);
  }
  const drawnFilters = [...byName.values()];
  return {
    parameters: Object.assign({}, ...drawnFilters.map(({ parameters }) => parameters)),
    tests: drawnFilters.map(({ test: meant }) => meant),
  };
}

const priorityOf = ({ labels }: Issue) => {
  const priorities = labels.flatMap(({ priority }) => priority ?? []);
  return priorities.length > 0 ? Math.min(...priorities) : null;
};

type Value = string | number | null;
const valuesOf: Record<(typeof orderNames)[number], (issue: Issue) => Value[]> = {
  created_at: ({ created_at }) => [created_at],
  updated_at: ({ updated_at }) => [updated_at],
  title: ({ title }) => [title.toLowerCase()],
  due_date: ({ due_date }) => [due_date],
  milestone_due: ({ milestone }) => [milestone?.due_date ?? null],
  weight: ({ weight }) => [weight],
  relative_position: ({ relative_position }) => [relative_position],
  label_priority: (issue) => [priorityOf(issue)],
  priority: (issue) => [issue.milestone?.due_date ?? null, priorityOf(issue)],
  popularity: ({ voters }) => [voters.length],
};

function compared(a: Issue, b: Issue, keysOf: (issue: Issue) => Value[], sort: string): number {
  const others = keysOf(b);
  for (const [index, value] of keysOf(a).entries()) {
    const other = others[index]!;
    if (value === other) continue;
    if (value === null || other === null) return value === null ? 1 : -1;
    return (value < other ? -1 : 1) * (sort === 'asc' ? 1 : -1);
  }
  return b.id - a.id;
}

const idsIn = (issues: readonly { id: number }[]) => issues.map(({ id }) => id);

const turns = runs(100, 2500);

test('lists equal the result of a slow computation, in order, on every page', async () => {
  const random = randomFrom(20_240_229);
  const data = await someData(random);
  const { here, issues, sees, grouped } = data;
  const places = [
    {
      path: `/projects/${here.project.id}/issues`,
      has: (id: number) => id === here.project.id,
      people: ['admin', 'guest', 'planner'],
    },
    {
      path: `/groups/${here.group.id}/issues`,
      has: (id: number) => grouped.includes(id),
      people: ['admin', 'guest', 'planner'],
    },
    { path: '/issues', has: () => true, people: ['admin', 'guest', 'planner', 'outsider'] },
  ] as const;
  let [longest, followed] = [0, 0];
  for (let turn = 0; turn < 2 * turns; turn++) {
    if (turn === turns) await addManyProjects(here);
    const place = turn < turns ? random.of(places) : places[2];
    const person: Person = random.of(place.people);
    const { parameters, tests } = draw(random, data, here.people[person].id);
    const [order_by, sort] = [random.of(orderNames), random.of(['asc', 'desc'])];
    const expected = issues
      .filter(({ project_id }) => place.has(project_id) && sees(person, project_id) !== 'nothing')
      .filter((issue) => {
        const me = here.people[person].id;
        const isOpen = !issue.confidential || issue.author_id === me || issue.assignees.includes(me);
        return isOpen || sees(person, issue.project_id) === 'all';
      })
      .filter((issue) => tests.every((meant) => meant(issue)))
      .sort((a, b) => compared(a, b, valuesOf[order_by], sort));
    longest = Math.max(longest, expected.length);
    const per_page = 1 + random.below(40);
    // Also the last page, and one past the end.
    const page = 1 + random.below(random.happens(50) ? 3 : Math.ceil(expected.length / per_page) + 2);
    const asked = { scope: 'all', ...parameters, order_by, sort, page, per_page };
    const answer = await here.as(person).get(place.path, asked);
    const { status, body, headers } = answer;
    const told = `turn ${turn}: ${person} ${place.path} ${JSON.stringify(asked)}`;
    assert.equal(status, 200, `${told} ${JSON.stringify(body)}`);
    const idsOn = (number: number) => expected.slice((number - 1) * per_page, number * per_page).map(({ id }) => id);
    assert.deepEqual(idsIn(body), idsOn(page), told);
    assert.equal(headers.get('x-total'), String(expected.length), told);
    const next = nextPath(answer);
    assert.equal(next !== undefined, expected.length > page * per_page, told);
    if (next) {
      const following = await here.as(person).get(next);
      assert.deepEqual(idsIn(following.body), idsOn(page + 1), `${told} ${next}`);
      assert.equal(following.headers.get('x-page'), String(page + 1), told);
      assert.equal(following.headers.get('x-total'), String(expected.length), told);
      if (next.includes('cursor=')) followed += 1;
    }
    if (turn % 4 > 0) continue;
    const {
      state: _state,
      due_date: _due,
      issue_type: _type,
      order_by: _order,
      ...counted
    } = asked as Record<string, unknown>;
    if (_state !== undefined || _due !== undefined || _type !== undefined) continue;
    const statistics = await here.as(person).get(`${place.path}_statistics`, counted);
    const opened = expected.filter(({ state }) => state === 'opened').length;
    assert.deepEqual(
      statistics.body.statistics.counts,
      { all: expected.length, closed: expected.length - opened, opened },
      told,
    );
  }
  assert.ok(longest > 2000, 'some lists are longer than what is gathered');
  assert.ok(followed > 5, `${followed} links have a cursor`);
});
