/** How notes are exported and imported with their targets (docs/reference/relations_export.md#notes). */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { Check } from 'typebox/value';
import type { NoteableKind } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import {
  type Arrival,
  type ArrivingRow,
  choice,
  column,
  columnOr,
  flag,
  integer,
  type Members,
  markdown,
  parts,
  person,
  type RecordKind,
  Refusal,
  required,
  sha,
  shown,
  text,
  time,
  type Value,
} from '../../../relations/index.ts';
import { eventsAbout } from '../../activity/events/index.ts';
import { metadataOfNote } from './action_rules.ts';
import { Position } from './position_rules.ts';
import { isVisibleNote } from './queries.ts';
import { bodyReasons } from './rules.ts';

/** A position, which is JSON stored as text. */
const position: Value = {
  type: 'jsonb',
  leaves: (name) => sql`${sql.ref(name)}::text`,
  arrives: (value) => {
    const parsed = typeof value === 'string' && value.length <= 20_000 ? parsedJson(value) : undefined;
    if (!Check(Position, parsed)) throw new Refusal('is invalid');
    return parsed;
  },
};

function parsedJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** Threads get ids derived from the migration, so that a second copy of a thread is a different thread. */
const threadId = (entity_id: number, discussion_id: string): string =>
  createHash('sha1').update(`${entity_id} ${discussion_id}`).digest('hex');

const lead = (thread: ArrivingRow | undefined, row: ArrivingRow): ArrivingRow => {
  if (!thread) return row;
  const [before, after] = [thread, row].map((each) => Date.parse(each.row.created_at as string)) as [number, number];
  return after < before ? row : thread;
};

/** Notes of one thread arrive together. The earliest is its first note. */
function placeInThreads(rows: readonly ArrivingRow[], { entity_id }: Arrival): void {
  const first = new Map<string, ArrivingRow>();
  for (const each of rows) {
    const { row } = each;
    const id = threadId(entity_id, (row.discussion_id as string | null) ?? `note ${row.id}`);
    row.discussion_id = id;
    row.starts_discussion = false;
    first.set(id, lead(first.get(id), each));
  }
  for (const { row } of first.values()) row.starts_discussion = true;
}

/** Only threads on merge requests can be resolved, and a note with a position is a note on a diff. */
function fit(rows: readonly ArrivingRow[], resolvable: boolean): void {
  for (const { row, value } of rows) {
    // Sources use one of the two names, or both: a comment that either restricts to members stays internal.
    if (value.internal) row.internal = true;
    if (row.position === null && row.type === 'DiffNote') row.type = 'DiscussionNote';
    if (row.type !== 'DiffNote') row.position = null;
    if (!resolvable || row.type === null || row.system) row.resolved_at = null;
    if (row.resolved_at === null) row.resolved_by_id = null;
  }
}

/** Comments on commits arrive one by one: their thread may already exist. */
async function joinThreads(tx: Database, rows: readonly ArrivingRow[], { owner }: Arrival): Promise<void> {
  const ids = rows.map(({ row }) => row.discussion_id as string);
  const begun = await tx
    .selectFrom('notes')
    .select('discussion_id')
    .where(isAmong('discussion_id', ids, 'text[]'))
    .where('starts_discussion', '=', true)
    .execute();
  const known = new Set(begun.map(({ discussion_id }) => discussion_id));
  for (const { row } of rows) {
    row.project_id = owner.id;
    if (known.has(row.discussion_id as string)) row.starts_discussion = false;
  }
}

const author = shown(sql`(select json_build_object('name', users.name) from users where users.id = notes.author_id)`);

/** The fields of comments on any noun. */
const commonMembers: Members = {
  note: required('body', markdown(bodyReasons)),
  author_id: person('author_id'),
  author,
  discussion_id: column('discussion_id', text()),
  type: column('type', choice('DiscussionNote', 'DiffNote')),
  system: columnOr('system', flag, false),
  confidential: columnOr('internal', flag, false),
  internal: shown(sql`notes.internal`),
  line_code: shown(sql`null`),
  position: column('position', position),
  original_position: column('original_position', position),
  change_position: shown(sql`null`),
  resolved_at: column('resolved_at', time),
  resolved_by_id: person('resolved_by_id'),
  resolved_by_push: shown(sql`null`),
  attachment: shown(sql`null`),
  outdated: columnOr('outdated', flag, false),
  updated_by_id: shown(sql`null`),
  last_edited_at: shown(sql`null`),
  created_at: required('created_at', time),
  updated_at: required('updated_at', time),
  events: parts(eventsAbout('Note', 'DiffNote', 'DiscussionNote'), 'target_id'),
};

const commonlyStays = {
  starts_discussion: 'the earliest note of a thread begins it',
  is_mention: 'found again in the text',
  refers_to_issue_id: 'found again in the text',
  refers_to_epic_id: 'found again in the text',
  refers_to_merge_request_id: 'found again in the text',
  refers_to_project_id: 'found again in the text',
  refers_to_commit_id: 'found again in the text',
};

/**
 * The notes on a kind of noteables.
 * @param further fields for records of areas above that belong to notes
 */
export const notesOn = (
  { type, column: key }: Pick<NoteableKind, 'type' | 'column'>,
  further: Members,
): RecordKind => ({
  table: 'notes',
  only: sql`${sql.ref(`notes.${key}`)} is not null`,
  members: {
    ...commonMembers,
    noteable_type: shown(sql`${sql.lit(type)}`),
    system_note_metadata: shown(metadataOfNote),
    ...(key === 'commit_id' ? { commit_id: required('commit_id', sha) } : { commit_id: column('diff_commit_id', sha) }),
    ...further,
  },
  always: { imported_from: 'gitlab_migration' },
  stays: commonlyStays,
  isVisible: ({ caller }) => isVisibleNote(caller, true),
  title: 'note',
  derives: {
    columns: { starts_discussion: 'boolean', ...(key === 'commit_id' && { project_id: 'bigint' }) },
    derive: async (rows, arrival, tx) => {
      placeInThreads(rows, arrival);
      fit(rows, type === 'MergeRequest');
      if (key === 'commit_id') await joinThreads(tx, rows, arrival);
      return undefined;
    },
  },
});

/** A change of lines that a comment suggests. */
const suggestion: RecordKind = {
  table: 'suggestions',
  members: {
    relative_order: shown(
      sql`(select count(*) from suggestions earlier where earlier.note_id = suggestions.note_id and earlier.id < suggestions.id)`,
    ),
    applied: shown(sql`suggestions.commit_id is not null`),
    commit_id: column('commit_id', sha),
    from_content: columnOr('from_content', text(), ''),
    to_content: columnOr('to_content', text(), ''),
    outdated: columnOr('outdated', flag, false),
    lines_above: columnOr('lines_above', integer(0, 100), 0),
    lines_below: columnOr('lines_below', integer(0, 100), 0),
  },
  stays: {},
};

/** A field with the suggestions of a note. */
export const suggestions = parts(suggestion, 'note_id');
