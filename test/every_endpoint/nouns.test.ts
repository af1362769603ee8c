/** The places that a noun enters (docs/adding_a_noun.md#the-places). */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type NoteableKind, noteableKinds } from '../../src/access/index.ts';
import { snippetNoun } from '../../src/areas/code/snippets/noteable.ts';
import { commitNoun } from '../../src/areas/conversation/commit_comments/noteable.ts';
import { areaServices, endpoints } from '../../src/areas/index.ts';
import { groupTrees, projectTrees } from '../../src/areas/migration/relations.ts';
import { pages } from '../../src/areas/pages.ts';
import { epicNoun } from '../../src/areas/work/epics/noteable.ts';
import { issueNoun } from '../../src/areas/work/issues/noteable.ts';
import { mergeRequestNoun } from '../../src/areas/work/merge_requests/noteable.ts';
import type { Database } from '../../src/db/index.ts';
import { world } from '../support/world.ts';

/** What the places are looked up in. */
interface Product {
  /** The tables with a foreign key to each table. */
  referring: ReadonlyMap<string, ReadonlySet<string>>;
  operations: ReadonlySet<string>;
  /** The columns of each table. */
  columns: ReadonlyMap<string, ReadonlySet<string>>;
  /** The source of `areas/index.ts`, which hands the facets to the engines. */
  map: string;
  usages: string;
}

type Kind = NoteableKind & { table?: string };
type Place = (kind: Kind, product: Product) => boolean;

/** A table with a foreign key to the noun. */
const row =
  (table: string): Place =>
  (kind, { referring }) =>
    referring.get(kind.table ?? '')?.has(table) ?? false;
/** An endpoint of the noun; `Noun` stands for its name. */
const operation =
  (name: string): Place =>
  ({ type }, { operations }) =>
    operations.has(name.replace('Noun', type));
/** A list in `areas/index.ts` that names the facet of the noun. */
const listed =
  (list: RegExp, facet: string): Place =>
  ({ type }, { map }) =>
    new RegExp(`\\b${type.charAt(0).toLowerCase()}${type.slice(1)}${facet}\\b`).test(list.exec(map)?.[0] ?? '');

/** The nouns with their facets. */
const nouns: Readonly<Record<NoteableKind['type'], object>> = {
  Issue: issueNoun,
  Epic: epicNoun,
  MergeRequest: mergeRequestNoun,
  Snippet: snippetNoun,
  Commit: commitNoun,
};

/** An address without the names of its parameters. */
const shapeOf = (pattern: string) => pattern.replace(/:\w+/g, ':');

/** Each place with the way to find a noun there. The names are those of the table in the document. */
const places: Readonly<Record<string, Place>> = {
  notes: row('notes'),
  award_emoji: row('award_emoji'),
  todos: row('todos'),
  subscriptions: row('subscriptions'),
  user_mentions: row('user_mentions'),
  resource_label_events: row('resource_label_events'),
  resource_state_events: row('resource_state_events'),
  resource_milestone_events: row('resource_milestone_events'),
  NOUN_labels: (kind, product) => row(`${kind.table?.replace(/s$/, '')}_labels`)(kind, product),
  NOUN_assignees: (kind, product) => row(`${kind.table?.replace(/s$/, '')}_assignees`)(kind, product),
  timelogs: row('timelogs'),
  internal_ids: ({ table }, { usages }) => usages.includes(`'${table}'`),
  user_notes_count: ({ table }, { columns }) => columns.get(table ?? '')?.has('user_notes_count') ?? false,
  'its endpoints': operation('getNoun'),
  'notes of it': operation('createNounNote'),
  'discussions of it': operation('createNounDiscussion'),
  'reactions to it': operation('createNounAwardEmoji'),
  'subscribing to it': operation('subscribeToNoun'),
  'participants of it': operation('listNounParticipants'),
  'to-do items for it': operation('createNounTodo'),
  'label events of it': operation('listNounLabelEvents'),
  'state events of it': operation('listNounStateEvents'),
  'milestone events of it': operation('listNounMilestoneEvents'),
  'time tracking on it': operation('addNounSpentTime'),
  'activity events': listed(/const eventTargets = \{[^;]*;/, 'Noun.event'),
  'webhooks of comments': ({ type }) => 'hook' in nouns[type],
  'its mail': ({ type }) => areaServices.mail_targets.some(({ types }) => types.includes(type)),
  'mail of comments': listed(/commentMail\([^\n]*/, 'Noun'),
  relations: ({ table }) => [...projectTrees, ...groupTrees].some(({ name }) => name === table),
  'its page': ({ page }) => pages.some((each) => shapeOf(each.path) === shapeOf(page.pattern)),
};

/** Why a noun is not found at some places. */
const absent: Readonly<Record<string, readonly { why: string; places: readonly string[] }[]>> = {
  Epic: [
    {
      why: 'Its dates can come from milestones of its issues; it has none itself.',
      places: ['resource_milestone_events', 'milestone events of it'],
    },
    { why: 'Epics have no assignees.', places: ['NOUN_assignees'] },
    { why: 'Time is spent on its issues.', places: ['timelogs', 'time tracking on it'] },
    { why: 'Events belong to projects.', places: ['activity events'] },
    { why: 'No webhook tells of comments on epics.', places: ['webhooks of comments'] },
  ],
  Snippet: [
    {
      why: 'It is commented on and reacted to, and nothing else.',
      places: [
        'todos',
        'subscriptions',
        'resource_label_events',
        'resource_state_events',
        'resource_milestone_events',
        'NOUN_labels',
        'NOUN_assignees',
        'timelogs',
        'subscribing to it',
        'participants of it',
        'to-do items for it',
        'label events of it',
        'state events of it',
        'milestone events of it',
        'time tracking on it',
      ],
    },
    { why: 'Its id is its number.', places: ['internal_ids'] },
    { why: 'Its replies do not count comments.', places: ['user_notes_count'] },
    { why: 'Only comments on it are mailed.', places: ['its mail'] },
  ],
  Commit: [
    {
      why: 'It has no row to which others could point; its comments name its SHA.',
      places: [
        'notes',
        'award_emoji',
        'todos',
        'subscriptions',
        'user_mentions',
        'resource_label_events',
        'resource_state_events',
        'resource_milestone_events',
        'NOUN_labels',
        'NOUN_assignees',
        'timelogs',
        'internal_ids',
        'user_notes_count',
      ],
    },
    {
      why: 'It is commented on in threads, and nothing else.',
      places: [
        'notes of it',
        'reactions to it',
        'subscribing to it',
        'participants of it',
        'to-do items for it',
        'label events of it',
        'state events of it',
        'milestone events of it',
        'time tracking on it',
      ],
    },
    { why: 'An event of a push names its commits.', places: ['activity events'] },
    { why: 'Only comments on it are mailed.', places: ['its mail'] },
    { why: 'The repository brings it; its comments are the relation `commit_notes`.', places: ['relations'] },
  ],
};

async function readProduct(db: Database): Promise<Product> {
  const keys = await sql<{ from: string; to: string }>`
    select distinct conrelid::regclass::text as from, confrelid::regclass::text as to from pg_constraint where contype = 'f'`.execute(
    db,
  );
  const columns = await sql<{ table_name: string; column_name: string }>`
    select table_name, column_name from information_schema.columns where table_schema = current_schema()`.execute(db);
  const source = (file: string) => readFile(path.resolve(import.meta.dirname, '../../src', file), 'utf8');
  const map = await source('areas/index.ts');
  const grouped = <T, K extends string>(rows: readonly T[], by: (row: T) => K, value: (row: T) => string) =>
    new Map([...Map.groupBy(rows, by)].map(([name, group]) => [name, new Set(group.map(value))]));
  return {
    referring: grouped(
      keys.rows,
      ({ to }) => to,
      ({ from }) => from,
    ),
    columns: grouped(
      columns.rows,
      ({ table_name }) => table_name,
      ({ column_name }) => column_name,
    ),
    operations: new Set(endpoints.map(({ operation }) => operation)),
    map: map.replaceAll('...issuables', /const issuables = \[([^\]]*)\]/.exec(map)![1]!),
    usages: await source('db/internal_ids.ts'),
  };
}

test('each noun is at every place, or the reason why not is written down', async () => {
  const { db } = await world({});
  const product = await readProduct(db);
  const missing = Object.fromEntries(
    noteableKinds.map((kind) => [
      kind.type,
      Object.keys(places)
        .filter((name) => !places[name]!(kind, product))
        .toSorted(),
    ]),
  );
  const excused = Object.fromEntries(
    noteableKinds.map(({ type }) => [type, (absent[type] ?? []).flatMap((each) => each.places).toSorted()]),
  );
  assert.deepEqual(missing, excused);
});

test('docs/adding_a_noun.md names every place', async () => {
  const text = await readFile(path.resolve(import.meta.dirname, '../../docs/adding_a_noun.md'), 'utf8');
  const section = /## The places\n([\s\S]*?)\n## /.exec(text)?.[1] ?? '';
  const named = [...section.matchAll(/^\| ([^|]+?) \|/gm)].map(([, name]) => name!.replaceAll('`', '')).slice(1);
  assert.deepEqual(named, Object.keys(places));
});
