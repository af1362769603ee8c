/** Every foreign key to a label, milestone or iteration, and what each event does to it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { addMergeRequest, worldWithTopic } from '../../../../test/support/merge_requests.ts';
import { sent } from '../../../../test/support/sent.ts';
import { world } from '../../../../test/support/world.ts';
import { type Database, type Reference, referencesTo } from '../../../db/index.ts';
import type { PlanningTable } from './actions.ts';

const tables: readonly PlanningTable[] = ['labels', 'milestones', 'iterations'];
const keyOf = ({ table, column }: Reference) => `${table}.${column}`;

interface Ids {
  project: number;
  issue: number;
  merge_request: number;
  epic: number;
  board: number;
  release: number;
  user: number;
}

/** How a row comes to name something, and which row it is then. */
interface Use {
  name(ids: Ids, id: number): RawBuilder<unknown>;
  row(ids: Ids): RawBuilder<unknown>;
}

const issueEvent = (table: string, column: string, more: Record<string, string>): Use => ({
  name: ({ issue, user }, id) =>
    sql`insert into ${sql.table(table)} (issue_id, user_id, ${sql.ref(column)}, ${sql.join(Object.keys(more).map((name) => sql.ref(name)))})
        values (${issue}, ${user}, ${id}, ${sql.join(Object.values(more))})`,
  row: ({ issue }) => sql`issue_id = ${issue}`,
});
const pair = (table: string, owner: keyof Ids, column: string): Use => ({
  name: (ids, id) =>
    sql`insert into ${sql.table(table)} (${sql.ref(`${owner}_id`)}, ${sql.ref(column)}) values (${ids[owner]}, ${id})`,
  row: (ids) => sql`${sql.ref(`${owner}_id`)} = ${ids[owner]}`,
});
const listFor = (column: string): Use => ({
  name: ({ board }, id) =>
    sql`insert into board_lists (board_id, ${sql.ref(column)}, position) values (${board}, ${id}, 0)`,
  row: ({ board }) => sql`board_id = ${board} and ${sql.ref(column)} is not null`,
});
const own = (table: string, owner: keyof Ids, column: string): Use => ({
  name: (ids, id) => sql`update ${sql.table(table)} set ${sql.ref(column)} = ${id} where id = ${ids[owner]}`,
  row: (ids) => sql`id = ${ids[owner]}`,
});

const uses: Readonly<Record<string, Use>> = {
  'board_labels.label_id': pair('board_labels', 'board', 'label_id'),
  'board_lists.label_id': listFor('label_id'),
  'epic_labels.label_id': pair('epic_labels', 'epic', 'label_id'),
  'issue_labels.label_id': pair('issue_labels', 'issue', 'label_id'),
  'label_priorities.label_id': {
    name: ({ project }, id) =>
      sql`insert into label_priorities (project_id, label_id, priority) values (${project}, ${id}, 3)`,
    row: ({ project }) => sql`project_id = ${project}`,
  },
  'merge_request_labels.label_id': pair('merge_request_labels', 'merge_request', 'label_id'),
  'resource_label_events.label_id': issueEvent('resource_label_events', 'label_id', { action: 'add' }),
  'subscriptions.label_id': {
    name: ({ user }, id) =>
      sql`insert into subscriptions (user_id, label_id, subscribed) values (${user}, ${id}, true)`,
    row: ({ user }) => sql`user_id = ${user} and label_id is not null`,
  },
  'board_lists.milestone_id': listFor('milestone_id'),
  'boards.milestone_id': own('boards', 'board', 'milestone_id'),
  'issues.milestone_id': own('issues', 'issue', 'milestone_id'),
  'merge_requests.milestone_id': own('merge_requests', 'merge_request', 'milestone_id'),
  'release_milestones.milestone_id': pair('release_milestones', 'release', 'milestone_id'),
  'resource_milestone_events.milestone_id': issueEvent('resource_milestone_events', 'milestone_id', {
    action: 'add',
    state: 'opened',
  }),
  'board_lists.iteration_id': listFor('iteration_id'),
  'boards.iteration_id': own('boards', 'board', 'iteration_id'),
  'issues.iteration_id': own('issues', 'issue', 'iteration_id'),
  'resource_iteration_events.iteration_id': issueEvent('resource_iteration_events', 'iteration_id', { action: 'add' }),
};

/** What a transfer does to it, where it leads to a group that was left; otherwise it names a copy. */
const otherwise: Readonly<Record<string, 'follows' | 'is released' | 'stays'>> = {
  'resource_label_events.label_id': 'follows',
  'resource_milestone_events.milestone_id': 'follows',
  'board_lists.iteration_id': 'is released',
  'boards.iteration_id': 'is released',
  'issues.iteration_id': 'is released',
  'resource_iteration_events.iteration_id': 'is released',
  // A subscription is of a user, and shows the label to nobody else.
  'subscriptions.label_id': 'stays',
};

test('every foreign key to a label, milestone or iteration has a case', async () => {
  const { db } = await world();
  const keys = (await Promise.all(tables.map((table) => referencesTo(db, table)))).flat().map(keyOf);
  assert.deepEqual(keys.toSorted(), Object.keys(uses).toSorted());
});

type Place = Awaited<ReturnType<typeof place>>;

/** A project with one of everything, in a group of another one. */
async function place() {
  const here = await worldWithTopic();
  const { as, project, group, people, db } = here;
  const of = `/projects/${project.id}`;
  const newGroup = async (path: string) => {
    const made = await sent(as('admin').post('/groups', { name: path, path, visibility: 'private' }));
    await sent(as('admin').post(`/groups/${made.id}/members`, { user_id: people.owner.id, access_level: 50 }));
    return made.id as number;
  };
  const [left, there] = [await newGroup(`left-${group.id}`), await newGroup(`there-${group.id}`)];
  await sent(as('owner').post(`/groups/${group.id}/transfer`, { group_id: left }));
  const epic = await sent(as('owner').post(`/groups/${group.id}/epics`, { title: 'Orchard' }));
  const issue = await sent(as('owner').post(`${of}/issues`, { title: 'Pick' }));
  const board = await sent(as('owner').post(`${of}/boards`, { name: 'Board' }));
  await sent(as('owner').post(`${of}/releases`, { tag_name: 'v1', ref: 'main' }));
  const { id: merge_request } = await addMergeRequest(here);
  const { id: release } = await db
    .selectFrom('releases')
    .select('id')
    .where('project_id', '=', project.id)
    .executeTakeFirstOrThrow();
  const ids: Ids = {
    project: project.id,
    issue: issue.id,
    merge_request,
    epic: epic.id,
    board: board.id,
    release,
    user: people.owner.id,
  };
  return { ...here, ids, left, there };
}

/** Adds a label, milestone or iteration to a group or project, as SQL does. @returns its id */
async function add(
  db: Database,
  table: PlanningTable,
  owner: Partial<Record<'group_id' | 'project_id', number>>,
  title: string,
) {
  const [column, id] = Object.entries(owner)[0]!;
  const numbers = sql`(select coalesce(max(iid), 0) + 1 from ${sql.table(table)} where ${sql.ref(column)} = ${id})`;
  const cadence = sql`(select id from iteration_cadences where group_id = ${id} limit 1)`;
  const insert = {
    labels: sql`insert into labels (${sql.ref(column)}, title, color) values (${id}, ${title}, '#aabbcc')`,
    milestones: sql`insert into milestones (${sql.ref(column)}, iid, title) values (${id}, ${numbers}, ${title})`,
    iterations: sql`
      insert into iterations (cadence_id, group_id, iid, sequence, title, start_date, due_date)
      select ${cadence}, ${id}, number, number, ${title}, current_date + 10 * number, current_date + 10 * number + 5
        from (select ${numbers} as number) numbers`,
  }[table];
  if (table === 'iterations')
    await sql`insert into iteration_cadences (group_id, title) select ${id}, 'Weeks' where ${cadence} is null`.execute(
      db,
    );
  const { rows } = await sql<{ id: number }>`${insert} returning id`.execute(db);
  return rows[0]!.id;
}

/** What the row of a use names, with its title and owner; undefined when there is no such row. */
async function named({ db, ids }: Place, table: PlanningTable, { table: source, column }: Reference) {
  const owner = table === 'iterations' ? sql`null::bigint` : sql`named.project_id`;
  const { rows } = await sql<{
    id: number | null;
    title: string | null;
    project_id: number | null;
    group_id: number | null;
  }>`
    select named.id, named.title, ${owner} as project_id, named.group_id
      from (select * from ${sql.table(source)} where ${uses[`${source}.${column}`]!.row(ids)}) source
      left join ${sql.table(table)} named on named.id = ${sql.ref(`source.${column}`)}`.execute(db);
  assert.ok(rows.length < 2, `${source}.${column} has ${rows.length} rows`);
  return rows[0];
}

for (const target of ['project', 'group'] as const)
  for (const known of [false, true])
    for (const table of tables)
      test(`a ${target} that moves to a group ${known ? 'with' : 'without'} the same titles leads to no ${table} of the old group`, async () => {
        const here = await place();
        const { db, as, ids, left, there, project, group } = here;
        const references = await referencesTo(db, table);
        const before = new Map<string, number>();
        for (const reference of references) {
          const key = keyOf(reference);
          const id = await add(db, table, { group_id: left }, key);
          if (known) await add(db, table, { group_id: there }, key);
          await uses[key]!.name(ids, id).execute(db);
          before.set(key, id);
        }
        await (target === 'project'
          ? sent(as('owner').put(`/projects/${project.id}/transfer`, { namespace: there }))
          : sent(as('owner').post(`/groups/${group.id}/transfer`, { group_id: there })));
        for (const reference of references) {
          const key = keyOf(reference);
          const now = await named(here, table, reference);
          const transfer = otherwise[key];
          // An epic is of the group, and does not move with the project.
          if (transfer === 'stays' || (target === 'project' && reference.table === 'epic_labels'))
            assert.equal(now?.id, before.get(key), key);
          else if (transfer === undefined || (transfer === 'follows' && known)) {
            const owner = known
              ? { project_id: null, group_id: there }
              : target === 'project'
                ? { project_id: project.id, group_id: null }
                : { project_id: null, group_id: group.id };
            assert.deepEqual({ ...now, id: 0 }, { id: 0, title: key, ...owner }, key);
          } else if (reference.on_delete === 'cascade') assert.equal(now, undefined, key);
          else assert.equal(now?.id, null, key);
        }
      });

for (const [table, path] of [
  ['labels', (id: number) => `labels/${id}/promote`],
  ['milestones', (id: number) => `milestones/${id}/promote`],
] as const)
  test(`all references to one of the project's ${table} point to the group's after its promotion, which may already exist`, async () => {
    const here = await place();
    const { db, as, ids, project, group } = here;
    for (const reference of await referencesTo(db, table)) {
      const key = keyOf(reference);
      const id = await add(db, table, { project_id: project.id }, key);
      await uses[key]!.name(ids, id).execute(db);
      const known = table === 'labels' ? await add(db, table, { group_id: group.id }, key) : undefined;
      const promoted = table === 'labels' ? as('owner').put : as('owner').post;
      const answer = await promoted(`/projects/${project.id}/${path(id)}`);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      const now = await named(here, table, reference);
      assert.deepEqual({ ...now, id: 0 }, { id: 0, title: key, project_id: null, group_id: group.id }, key);
      assert.notEqual(now?.id, id, key);
      if (known !== undefined) assert.equal(now?.id, known, key);
      // The next one is told apart by its row.
      if (reference.keys.length > 0 || reference.is_pair)
        await sql`delete from ${sql.table(reference.table)} where ${uses[key]!.row(ids)}`.execute(db);
    }
  });
