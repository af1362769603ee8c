import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type World, world } from '../../../test/support/world.ts';
import type { Database } from '../../db/index.ts';
import {
  type Arrival,
  type Arrived,
  arriving,
  type Departure,
  leaving,
  type Member,
  type RecordKind,
  type Relation,
  type RelationOwner,
} from '../../relations/index.ts';
import { groupSelf } from '../spaces/groups/index.ts';
import { projectSelf } from '../spaces/projects/index.ts';
import { groupTrees, projectTrees } from './relations.ts';

/** A kind and those of its parts. */
function* kindsIn(kind: RecordKind): Generator<RecordKind> {
  yield kind;
  for (const member of Object.values(kind.members)) if (member.is === 'parts') yield* kindsIn(member.kind);
}

/** The columns that members carry. */
function* carried(members: RecordKind['members']): Generator<string> {
  for (const member of Object.values(members)) {
    if (member.is === 'group') yield* carried(member.members);
    if ('column' in member) yield member.column;
  }
}

/** The columns of parts that name what they belong to. */
const keys = (kind: RecordKind): [string, string][] =>
  [...kindsIn(kind)].flatMap(({ members }) =>
    Object.values(members).flatMap((member: Member) =>
      member.is === 'parts' ? [[member.kind.table, member.key] as [string, string]] : [],
    ),
  );

async function columnsOfTables(db: Database): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ name: string; columns: string[] }>`
    select table_name as name, array_agg(column_name::text order by ordinal_position) as columns from information_schema.columns
     where table_schema = 'public' and is_generated = 'NEVER' group by table_name`.execute(db);
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}

/** Tables whose rows name one of several things, each in a column of its own. */
const aboutOneOfSeveral = [
  'notes',
  'award_emoji',
  'timelogs',
  'resource_label_events',
  'resource_state_events',
  'resource_milestone_events',
];
const columnsOfThings = ['issue_id', 'epic_id', 'merge_request_id', 'snippet_id', 'note_id', 'commit_id', 'project_id'];

test('every column of a described table is carried or named as one that stays', async () => {
  const { db } = await world();
  const tables = await columnsOfTables(db);
  const relations: Relation[] = [
    ...projectTrees,
    ...groupTrees,
    ...[projectSelf, groupSelf].map((kind) => ({ name: 'self', kind })),
  ];
  const known = new Map<string, Set<string>>();
  for (const kind of relations.flatMap(({ kind, holds }) => [...kindsIn(kind), ...(holds ? kindsIn(holds.kind) : [])])) {
    const names = known.get(kind.table) ?? new Set(['id']);
    for (const name of [...carried(kind.members), ...Object.keys(kind.stays), ...Object.values(kind.owner ?? {})])
      names.add(name);
    for (const name of [...Object.keys(kind.always ?? {}), ...Object.keys(kind.derives?.columns ?? {})]) names.add(name);
    known.set(kind.table, names);
  }
  for (const [table, key] of relations.flatMap(({ kind }) => keys(kind))) known.get(table)!.add(key);
  for (const [table, names] of known) {
    const others = aboutOneOfSeveral.includes(table) ? columnsOfThings : [];
    assert.deepEqual(
      tables.get(table)!.filter((name) => !names.has(name) && !others.includes(name)),
      [],
      `columns of ${table} that no description knows`,
    );
    assert.deepEqual(
      [...names].filter((name) => name !== 'id' && !tables.get(table)!.includes(name)),
      [],
      `columns that ${table} does not have`,
    );
  }
});

async function linesOf(
  { db, people, services }: World,
  relation: Relation,
  owner: RelationOwner,
  persona: 'maintainer' | 'owner' = 'owner',
) {
  const departure: Departure = {
    caller: { id: people[persona].id, admin: false, external: false },
    owner,
    storages: services.storages,
  };
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      let text = '';
      for await (const lines of leaving(relation).lines(tx, departure)) text += lines.text;
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    });
}

async function arriveAt(
  { db, services }: World,
  relation: Relation,
  owner: RelationOwner,
  values: readonly unknown[],
): Promise<Arrived> {
  const ghost = await db.selectFrom('users').select('id').where('user_type', '=', 'ghost').executeTakeFirst();
  const arrival: Arrival = {
    owner,
    services,
    importer_id: 1,
    entity_id: owner.id,
    ghost_id: ghost?.id ?? 1,
    people: async (_tx, ids) => new Map(ids.map((id) => [id, id])),
    accounts: async (_tx, ids) => new Map(ids.map((id) => [id, id])),
    path: (path) => path,
    project: (id) => id,
    text: async (text) => text,
  };
  const records = values.map((value, index) => ({ line: index + 1, value: value as Record<string, unknown> }));
  return db.transaction().execute((tx) => arriving(relation).arrive(tx, arrival, records));
}

/** An issue with all that an issue can have. */
async function fullIssue({ as, project, group, people, db }: World): Promise<void> {
  const own = `/projects/${project.id}`;
  await as('owner').post(`${own}/labels`, { name: 'ripe', color: '#112233', priority: 2 });
  await as('owner').post(`/groups/${group.id}/labels`, { name: 'shared', color: '#445566' });
  const milestone = await as('owner').post(`${own}/milestones`, { title: 'Autumn', due_date: '2030-10-01' });
  const added = await as('owner').post(`${own}/issues`, {
    ...{ title: 'Pick apples', description: '- [x] climb\n- [ ] pick', labels: 'ripe,shared', milestone_id: milestone.body.id },
    ...{ assignee_ids: [people.owner.id], due_date: '2030-09-09', weight: 3, confidential: true },
  });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const url = `${own}/issues/${added.body.iid}`;
  const thread = await as('owner').post(`${url}/discussions`, { body: 'Which ladder?' });
  await as('reporter').post(`${url}/discussions/${thread.body.id}/notes`, { body: 'The long one.' });
  const note = await as('owner').post(`${url}/notes`, { body: 'Between us', internal: true });
  await as('reporter').post(`${url}/award_emoji`, { name: 'thumbsup' });
  await as('reporter').post(`${url}/notes/${note.body.id}/award_emoji`, { name: 'rocket' });
  await as('owner').post(`${url}/add_spent_time`, { duration: '1h', summary: 'Climbing' });
  await as('owner').post(`${url}/time_estimate`, { duration: '3h' });
  await as('owner').put(url, { state_event: 'close' });
  await db.updateTable('issues').set({ health_status: 'at_risk' }).where('project_id', '=', project.id).execute();
}

test('what leaves a project arrives in another as it was', async () => {
  const here = await world();
  const { as, project, group } = here;
  await fullIssue(here);
  const added = await as('owner').post('/projects', { name: 'Copy', path: 'copy', namespace_id: group.id });
  const [source, destination]: RelationOwner[] = [project, added.body].map(({ id }) => ({ kind: 'project', id }));
  for (const relation of projectTrees) {
    const left = await linesOf(here, relation, source!);
    assert.ok(left.length > 0, relation.name);
    const { counts, failures } = await arriveAt(here, relation, destination!, left);
    assert.deepEqual(failures, []);
    assert.deepEqual(counts[relation.name], { fetched: left.length, imported: left.length });
    const again = await linesOf(here, relation, destination!);
    assert.deepEqual(again.map(comparable), left.map(comparable), relation.name);
  }
});

/** A record without what is another one at each place. */
const comparable = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, member) => (['discussion_id', 'imported_from'].includes(name) ? undefined : member)));
