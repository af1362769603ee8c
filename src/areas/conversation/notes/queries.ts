/** Queries for notes. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  commitKind,
  type Followed,
  type IssuableColumn,
  type IssuableKind,
  isAbout,
  issuableKinds,
  type MaybeCaller,
  type Noteable,
  type OnNoteable,
  type Reading,
  rowsWithPlaces,
  type StoredColumn,
  type StoredKind,
  storedKinds,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found, type Page } from '../../../http/index.ts';
import { type Paging, paginate } from '../../../lists/index.ts';
import { type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import type { Position } from './position_rules.ts';
import { mayReadInternal } from './rules.ts';
import { type SuggestionReply, suggestionsOfNote } from './suggestion_present.ts';

/** A predicate on rows of `notes`: they are on the noteable. */
export const isOn = (noteable: Noteable): RawBuilder<boolean> => isAbout('notes', noteable);

/** The columns for the issuable that the body of a note refers to. */
const refersColumn = (column: IssuableColumn) => `refers_to_${column}` as const;

/** The columns for a commit that the body of a note refers to. */
const refersToCommit = ['refers_to_project_id', 'refers_to_commit_id'] as const;

/** All columns for references in the body of a note. */
export const refersColumns = [...issuableKinds.map(({ column }) => refersColumn(column)), ...refersToCommit];

/** These columns for a body with a reference. */
export const referringTo = (named: Followed) =>
  'id' in named
    ? { [refersColumn(named.kind.column)]: named.id }
    : { refers_to_project_id: named.project_id, refers_to_commit_id: named.sha };

/**
 * A predicate on rows of `notes` whose noteable the caller may read: they may read the note as well. Notes that refer
 * to an item hidden from the caller are hidden, too. The item is looked up by id, because with `exists` PostgreSQL may
 * choose to read all issues first.
 * @param withInternal whether the caller may read internal notes: members from Planner up
 */
export const isVisibleNote = (caller: Reading, withInternal: boolean): RawBuilder<SqlBool> => sql`
  (${sql.join([withInternal ? sql`true` : sql`not notes.internal`, ...issuableKinds.map((kind) => isReferenceVisible(caller, kind)), isCommitVisible(caller)], sql` and `)})`;

function isReferenceVisible(caller: Reading, kind: IssuableKind) {
  const other = sql.ref(`notes.${refersColumn(kind.column)}`);
  return sql`(${other} is null or (
    select ${kind.isVisible(caller)} from ${rowsWithPlaces(kind)} where ${sql.ref(`${kind.table}.id`)} = ${other}))`;
}

const isCommitVisible = (caller: Reading) => sql`(notes.refers_to_project_id is null or (
    select ${commitKind.isVisible(caller)} from projects where projects.id = notes.refers_to_project_id))`;

/** A note with the columns of replies. */
export interface NoteRow extends Record<StoredColumn, number | null> {
  id: number;
  commit_id: string | null;
  position: Position | null;
  original_position: Position | null;
  diff_commit_id: string | null;
  discussion_id: string;
  type: 'DiscussionNote' | 'DiffNote' | null;
  body: string;
  system: boolean;
  internal: boolean;
  imported_from: string;
  created_at: string;
  updated_at: string;
  project_id: number | null;
  issue_iid: number | null;
  author_id: number | null;
  author_username: string | null;
  author_name: string | null;
  author_state: string | null;
  author_public_email: string | null;
  author_avatar: string | null;
  resolved_at: string | null;
  resolved_by: UserBasicRow | null;
  /** Null for notes that are not about a diff of a merge request. */
  suggestions: SuggestionReply[] | null;
}

/** Whether a note is part of a thread that can be resolved. */
export const isResolvable = ({
  merge_request_id,
  type,
  system,
}: Pick<NoteRow, 'merge_request_id' | 'type' | 'system'>): boolean =>
  merge_request_id !== null && type !== null && !system;

/** A predicate on rows of `notes`: they are resolvable, but not resolved. It must equal the predicate of the index. */
export const isOpen = sql<boolean>`
  (notes.merge_request_id is not null and notes.type is not null and not notes.system and notes.resolved_at is null)`;

const resolver = sql<UserBasicRow | null>`
  (select ${userBasicJson('resolvers')} from users resolvers where resolvers.id = notes.resolved_by_id)`;

/** The project or iid of a note's target; group-level targets show none. */
const ofTarget = (kinds: readonly StoredKind[], shown: 'project_id' | 'iid') =>
  sql<number | null>`(${sql.join(
    kinds
      .filter(({ places }) => places === 'projects')
      .map(
        ({ table, column }) =>
          sql`select ${sql.ref(shown)} from ${sql.table(table)} where id = ${sql.ref(`notes.${column}`)}`,
      ),
    sql` union all `,
  )})`;

const projectOfTarget = sql<number | null>`coalesce(notes.project_id, ${ofTarget(storedKinds, 'project_id')})`;

/** Notes with the columns of replies. */
export const noteRows = (db: Database) =>
  db
    .selectFrom('notes')
    .leftJoin('users as authors', 'authors.id', 'notes.author_id')
    .select(storedKinds.map(({ column }) => `notes.${column}` as const))
    .select((q) => q.ref('notes.type').$castTo<NoteRow['type']>().as('type'))
    .select((q) => ['notes.commit_id', q.ref('notes.position').$castTo<Position | null>().as('position')])
    .select((q) => [
      'notes.diff_commit_id',
      q.ref('notes.original_position').$castTo<Position | null>().as('original_position'),
    ])
    .select(['notes.id', 'notes.discussion_id', 'notes.body', 'notes.system'])
    .select(['notes.internal', 'notes.imported_from', 'notes.created_at', 'notes.updated_at', 'notes.author_id'])
    .select([
      projectOfTarget.as('project_id'),
      ofTarget(issuableKinds, 'iid').as('issue_iid'),
      'authors.username as author_username',
    ])
    .select([
      'authors.name as author_name',
      'authors.state as author_state',
      'authors.public_email as author_public_email',
    ])
    .select(['authors.avatar as author_avatar', 'notes.resolved_at', resolver.as('resolved_by')])
    .select(suggestionsOfNote.as('suggestions'));

/** The notes on a noteable that the caller may read. */
export const notesFor = (db: Database, { caller, on }: OnNoteable<MaybeCaller>) =>
  noteRows(db)
    .where(isOn(on))
    .where(isVisibleNote(caller, mayReadInternal(on)));

/** Which notes to list. */
export interface NoteFilter {
  activity_filter: 'all_notes' | 'only_comments' | 'only_activity';
  order_by: 'created_at' | 'updated_at';
  sort: 'asc' | 'desc';
}

/**
 * A predicate on rows of `notes`: the notes API shows them. Threads are listed by discussions, except for threads on
 * diffs (docs/reference/notes.md).
 */
const isSingle = sql<boolean>`notes.type is distinct from 'DiscussionNote'`;

/** A page of notes outside threads, and of notes on diffs. */
export function singleNotesOf(
  db: Database,
  granted: OnNoteable<MaybeCaller>,
  input: Paging & NoteFilter,
): Promise<Page<NoteRow>> {
  const { activity_filter, order_by, sort } = input;
  const all = notesFor(db, granted).where(isSingle);
  const wanted =
    activity_filter === 'all_notes' ? all : all.where('notes.system', '=', activity_filter === 'only_activity');
  return paginate(db, wanted.orderBy(`notes.${order_by}`, sort).orderBy('notes.id', sort), input);
}

/**
 * One note, which the caller may read.
 * @param single whether notes in threads are excluded
 * @throws ApiError 404
 */
export async function noteOf(
  db: Database,
  granted: OnNoteable<MaybeCaller>,
  note_id: number,
  single: boolean,
): Promise<NoteRow> {
  const query = notesFor(db, granted).where('notes.id', '=', note_id);
  return found(undefined, await (single ? query.where(isSingle) : query).executeTakeFirst());
}

/** Updates the time of the commented item; a commit cannot change. */
export async function touch(tx: Database, noteable: Noteable): Promise<void> {
  if ('id' in noteable)
    await sql`update ${sql.table(noteable.kind.table)} set updated_at = now() where id = ${noteable.id}`.execute(tx);
}
