import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { fullWorld } from '../../../test/support/full_project.ts';
import {
  arrived,
  type Destination,
  emptyPlaces,
  inStages,
  recordsOf,
  settled,
} from '../../../test/support/relations.ts';
import { sent } from '../../../test/support/sent.ts';
import { type World, world } from '../../../test/support/world.ts';
import type { Database } from '../../db/index.ts';
import type { Member, RecordKind, Relation, RelationOwner } from '../../relations/index.ts';
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

test('every column of a described table is exported or listed as one that stays behind', async () => {
  const { db } = await world();
  const tables = await columnsOfTables(db);
  const relations: Relation[] = [
    ...projectTrees,
    ...groupTrees,
    ...[projectSelf, groupSelf].map((kind) => ({ name: 'self', kind })),
  ];
  const known = new Map<string, Set<string>>();
  for (const kind of relations.flatMap(({ kind, holds }) => [
    ...kindsIn(kind),
    ...(holds ? kindsIn(holds.kind) : []),
  ])) {
    const names = known.get(kind.table) ?? new Set(['id']);
    for (const name of [...carried(kind.members), ...Object.keys(kind.stays), ...Object.values(kind.owner ?? {})])
      names.add(name);
    for (const name of [...Object.keys(kind.always ?? {}), ...Object.keys(kind.derives?.columns ?? {})])
      names.add(name);
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

/** What another server or place gives in another way. */
const elsewhere = ['discussion_id', 'imported_from', 'source_project_id', 'target_project_id', 'merge_status'];

/** A record without what is another one at each place. */
const comparable = (record: unknown, { paths = new Map() }: Destination = {} as Destination): unknown => {
  let text = JSON.stringify(record, (name, value) => {
    if (elsewhere.includes(name)) return undefined;
    return name === 'label_links' ? value.toSorted(byTitle) : value;
  });
  for (const [source, here] of paths) text = text.replaceAll(`"${here}#`, `"${source}#`);
  return JSON.parse(text);
};

const byTitle = (one: { label: { title: string } }, other: typeof one) =>
  one.label.title.localeCompare(other.label.title);

/** The system notes in records and their parts. */
function* systemNotesIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if ('noteable_type' in value && 'system' in value && value.system) yield value as Record<string, unknown>;
  for (const member of Object.values(value)) yield* systemNotesIn(member);
}

/** The members that are carried, by their table, each with whether a record has a value for it. */
type Seen = Map<string, boolean>;

function lookFor(
  seen: Seen,
  { table, members }: Pick<RecordKind, 'table' | 'members'>,
  records: readonly Record<string, unknown>[],
) {
  for (const [name, member] of Object.entries(members)) {
    if (member.is === 'shown' || (member.is === 'parts' && member.only_arrives)) continue;
    const values = records.map((record) => record[name]).filter((value) => value !== null && value !== undefined);
    const key = `${table}.${name}`;
    seen.set(key, seen.get(key) || values.flat().length > 0);
    const below = values.flat() as Record<string, unknown>[];
    if (member.is === 'parts' || member.is === 'reference') lookFor(seen, member.kind, below);
    if (member.is === 'group') lookFor(seen, { table, members: member.members }, below);
  }
}

/** What system notes name, and how many issues merge requests close. */
async function namedIn({ db }: World, { kind, id }: RelationOwner): Promise<unknown> {
  const isIn =
    kind === 'group'
      ? sql`epic_id in (select id from epics where group_id = ${id})`
      : sql`(issue_id in (select id from issues where project_id = ${id}) or merge_request_id in (select id from merge_requests where project_id = ${id}))`;
  const { rows } = await sql`
    select regexp_replace(body, '\\S*[#&!@0-9]\\S*', '') as words, is_mention,
           concat_ws(' ', case when refers_to_issue_id is not null then 'issue' end, case when refers_to_epic_id is not null then 'epic' end,
             case when refers_to_merge_request_id is not null then 'merge request' end, refers_to_commit_id) as named
      from notes where ${isIn} and system
    union all
    select 'closes', true, count(*)::text from merge_request_closed_issues join merge_requests on merge_requests.id = merge_request_id
     where project_id = ${kind === 'project' ? id : 0}
     order by 1, 2, 3`.execute(db);
  return rows;
}

test('the export of a project and its group is imported unchanged into others', async () => {
  const here = await fullWorld();
  const { project, group } = here;
  const destination = await emptyPlaces(here);
  const sources: readonly [RelationOwner, readonly Relation[]][] = [
    [{ kind: 'group', id: group.id }, groupTrees],
    [{ kind: 'project', id: project.id }, projectTrees],
  ];
  const seen: Seen = new Map();
  for (const [source, relations] of sources)
    for (const relation of inStages(source.kind, relations)) {
      const name = `${source.kind} ${relation.name}`;
      const left = await recordsOf(here, relation, source);
      assert.ok(left.length > 0, name);
      const { counts, failures } = await arrived(here, relation, destination[source.kind], left);
      assert.deepEqual(failures, [], name);
      assert.deepEqual(counts[relation.name], { fetched: left.length, imported: left.length });
      lookFor(seen, relation.kind, left);
      for (const note of systemNotesIn(left)) assert.ok(note.system_note_metadata, `${name}: ${note.note}`);
    }
  for (const [source, relations] of sources) {
    const copy = destination[source.kind];
    assert.deepEqual(await settled(here, copy), []);
    for (const relation of relations) {
      const [left, again] = [await recordsOf(here, relation, source), await recordsOf(here, relation, copy)];
      const name = `${source.kind} ${relation.name}`;
      assert.deepEqual(
        again.map((record) => comparable(record, copy)),
        left.map((record) => comparable(record)),
        name,
      );
    }
    assert.deepEqual(await namedIn(here, copy), await namedIn(here, source), 'what notes and merge requests name');
  }
  const { as } = here;
  const [inGroup, inProject] = [`/groups/${destination.group.id}`, `/projects/${destination.project.id}`];
  for (const path of [
    `${inGroup}/epics`,
    `${inProject}/issues`,
    `${inProject}/issues/1/notes`,
    `${inProject}/snippets`,
  ])
    for (const { imported, imported_from } of await sent(as('owner').get(path)))
      assert.deepEqual([imported, imported_from], [true, 'gitlab_migration'], path);
  const unseen = [...seen].filter(([, isSeen]) => !isSeen).map(([name]) => name);
  assert.deepEqual(unseen, [], 'members that the fixture has no value for');
});
