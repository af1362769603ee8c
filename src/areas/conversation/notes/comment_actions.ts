/** Creating, updating and deleting comments, each with all its effects in one transaction. */
import { sql } from 'kysely';
import { isFollowed, isIssuable, type Noteable, noteableColumns, type OnNoteable } from '../../../access/index.ts';
import { type Database, repeated, stamped } from '../../../db/index.ts';
import { checkUnmodified, deleteFound, forbidden, found, type Plan, type Services } from '../../../http/index.ts';
import { recordEvent } from '../../activity/events/index.ts';
import { doneTodos } from '../../activity/todos/index.ts';
import { applyCommands, type CommandOutcome } from '../quick_actions/actions.ts';
import { type Command, extractCommands } from '../quick_actions/extraction_rules.ts';
import type { Discussable } from './definition.ts';
import { tellOfNote } from './elsewhere/hook_actions.ts';
import { noteMentions } from './mention_actions.ts';
import type { Position } from './position_rules.ts';
import type { Written } from './present.ts';
import { isOn, type NoteRow, noteRows, touch } from './queries.ts';
import { settleWithout } from './resolution_actions.ts';
import {
  cannotBeRepliedTo,
  checkBody,
  commandsFailed,
  mayChange,
  mayComment,
  mayDate,
  mayReadInternal,
} from './rules.ts';
import { writeSuggestions } from './suggestion_actions.ts';

/** The noteable that is commented on, with its rules and quick actions. */
export type Writing = Pick<Services, 'db' | 'storages' | 'url'> & { plan: Plan; noun: Discussable };

export interface NewComment {
  body: string;
  /** ISO 8601; ignored unless the caller may set it. */
  created_at?: string | undefined;
  internal?: boolean | undefined;
  /** The thread to reply to, or a new thread if it has no id; if omitted, the comment is not in a thread. */
  thread?: { discussion_id?: string } | undefined;
  /** Its position in the diff, which must be valid. */
  position?: Position | undefined;
  /** The commit of a merge request whose diff the position refers to. */
  diff_commit_id?: string | undefined;
}

/** The text without its quick actions if the noun supports any; otherwise the whole text. */
const extracted = (body: string, { quickActions }: Discussable) =>
  quickActions ? extractCommands(body, quickActions) : { text: body, commands: [] };

/** Applies quick actions. They run after the text is stored: the comment resolves to-do items, and `/todo` adds one. */
async function runCommands(
  tx: Database,
  { storages, url, plan, noun: { quickActions } }: Omit<Writing, 'db'>,
  { caller, on }: OnNoteable,
  commands: readonly Command[],
): Promise<CommandOutcome | undefined> {
  if (commands.length === 0 || !quickActions || !isIssuable(on)) return undefined;
  return applyCommands(tx, quickActions, { caller, plan, storages, url, on, is_new: false }, commands);
}

/** Applies a text that consists of quick actions only. */
async function onlyCommands(
  tx: Database,
  writing: Omit<Writing, 'db'>,
  granted: OnNoteable,
  commands: readonly Command[],
): Promise<Written> {
  const outcome = await runCommands(tx, writing, granted, commands);
  if (!outcome?.applied) throw commandsFailed();
  return { note: undefined, commands: outcome };
}

/** The first note of a thread. */
export interface First {
  id: number;
  type: NoteRow['type'];
  internal: boolean;
  position: Position | null;
  original_position: Position | null;
  diff_commit_id: string | null;
  outdated: boolean;
  /** Whether all its notes are resolved. */
  is_resolved: boolean;
}

/** Whether all notes of a thread are resolved, for rows of its first note. */
const isResolved = sql<boolean>`notes.resolved_at is not null and not exists (
  select from notes others where others.discussion_id = notes.discussion_id and others.resolved_at is null)`;

/**
 * The thread of a reply, locked until the reply is written.
 * @throws ApiError 404 if it does not exist or is hidden from the caller; 400 if it does not accept replies
 */
export async function threadToJoin(tx: Database, { on }: OnNoteable, discussion_id: string): Promise<First> {
  const first = await tx
    .selectFrom('notes')
    .select((q) => ['id', 'system', 'internal', q.ref('type').$castTo<First['type']>().as('type')])
    .select((q) => q.ref('position').$castTo<First['position']>().as('position'))
    .select((q) => [
      'diff_commit_id',
      'outdated',
      q.ref('original_position').$castTo<First['position']>().as('original_position'),
    ])
    .select(isResolved.as('is_resolved'))
    .where(isOn(on))
    .where('discussion_id', '=', discussion_id)
    .where('starts_discussion', '=', true)
    .forUpdate()
    .executeTakeFirst();
  const thread = found('Discussion', first && (!first.internal || mayReadInternal(on)) ? first : undefined);
  if (thread.system || (thread.type === null && !on.kind.threads_comments)) throw cannotBeRepliedTo();
  return thread;
}

/** Turns an individual comment into the first note of a thread when it gets a reply. */
async function openThread(tx: Database, { id, type }: First): Promise<void> {
  if (type === null) await tx.updateTable('notes').set({ type: 'DiscussionNote' }).where('id', '=', id).execute();
}

const noteWith = (tx: Database, id: number): Promise<NoteRow> =>
  noteRows(tx).where('notes.id', '=', id).executeTakeFirstOrThrow();

/**
 * The columns for the position in the diff: of the comment, or else of its thread. On a merge request the position
 * follows changes of the code, and the original one is stored as well.
 */
function placeColumns({ kind }: Noteable, comment: NewComment, joined: First | undefined) {
  const { position = joined?.position ?? null, diff_commit_id = joined?.diff_commit_id ?? null } = comment;
  if (position === null) return {};
  const original = kind.type === 'MergeRequest' ? (joined?.original_position ?? position) : null;
  const outdated = joined?.outdated ?? false;
  return {
    position: JSON.stringify(position),
    original_position: original && JSON.stringify(original),
    diff_commit_id,
    outdated,
  };
}

async function placed(tx: Database, { diff }: Discussable, on: Noteable, position: Position): Promise<void> {
  if (isIssuable(on)) await diff?.afterPlaced?.(tx, on, position);
}

/** Writes the row of a comment, its suggestions and its event. */
async function addNote(
  tx: Database,
  services: Pick<Services, 'storages'>,
  { caller, on }: OnNoteable,
  text: string,
  comment: NewComment,
  joined: First | undefined,
): Promise<NoteRow> {
  const { thread, internal = false } = comment;
  const type = comment.position || joined?.position ? 'DiffNote' : thread === undefined ? null : 'DiscussionNote';
  const { discussion_id } = thread ?? {};
  const at = mayDate(on) ? comment.created_at : undefined;
  const added = await tx
    .insertInto('notes')
    .values({
      ...noteableColumns(on),
      ...(discussion_id === undefined ? {} : { discussion_id, starts_discussion: false }),
      ...(at === undefined ? {} : { created_at: at, updated_at: at }),
      ...placeColumns(on, comment, joined),
      type,
      body: text,
      author_id: caller.id,
      internal: internal || (joined?.internal ?? false),
      // A reply does not reopen a thread.
      ...(joined?.is_resolved ? { resolved_at: sql`now()`, resolved_by_id: caller.id } : {}),
    })
    .returning((q) => ['id', q.ref('position').$castTo<Position | null>().as('position'), 'diff_commit_id'])
    .executeTakeFirstOrThrow();
  await writeSuggestions(tx, services, on, added, text);
  await recordEvent(tx, {
    project_id: 'project' in on.in ? on.in.project.id : null,
    author_id: caller.id,
    action: 'commented',
    target_type: type ?? 'Note',
    target_id: added.id,
    ...(at === undefined ? {} : { created_at: at }),
  });
  return noteWith(tx, added.id);
}

/** A valid comment, with its quick actions separated from its text. */
export interface CheckedComment extends NewComment {
  text: string;
  commands: readonly Command[];
}

/**
 * Checks a comment and extracts its quick actions.
 * @throws ApiError 400 for an invalid comment, 403 for callers who may not comment
 */
export async function checkedComment(
  noun: Discussable,
  { on }: OnNoteable,
  comment: NewComment,
): Promise<CheckedComment> {
  if (!mayComment(on) || (comment.internal && !mayReadInternal(on))) throw forbidden();
  checkBody(comment.body);
  return { ...comment, ...(await extracted(comment.body, noun)) };
}

/**
 * Writes a comment with all its effects, and applies its quick actions.
 * @param tx the transaction of the comment
 * @throws ApiError 400 for a text with only quick actions that cannot be applied, 404 for an unknown thread
 */
export async function addComment(
  tx: Database,
  writing: Omit<Writing, 'db'>,
  granted: OnNoteable,
  comment: CheckedComment,
): Promise<Written> {
  const { caller, on } = granted;
  const { text, commands } = comment;
  const discussion_id = comment.thread?.discussion_id;
  const joined = discussion_id === undefined ? undefined : await threadToJoin(tx, granted, discussion_id);
  if (text.trim() === '') return onlyCommands(tx, writing, granted, commands);
  if (joined) await openThread(tx, joined);
  const note = await addNote(tx, writing, granted, text, comment, joined);
  const { id: note_id, internal } = note;
  await noteMentions(tx, { actor: caller, noteable: on, note_id, internal, text, url: writing.url });
  if (isFollowed(on)) await doneTodos(tx, on, caller.id);
  await touch(tx, on);
  if (note.position && !joined && note.diff_commit_id === null) await placed(tx, writing.noun, on, note.position);
  await tellOfNote(tx, writing.noun, granted, note_id, 'create');
  return { note, commands: await runCommands(tx, writing, granted, commands) };
}

/**
 * Creates a comment in a transaction of its own.
 * @throws ApiError 400 for an invalid comment, 403 for callers who may not comment, 404 for an unknown thread
 */
export async function writeComment(writing: Writing, granted: OnNoteable, comment: NewComment): Promise<Written> {
  const checked = await checkedComment(writing.noun, granted, comment);
  return repeated(writing.db, (tx) => addComment(tx, writing, granted, checked));
}

/**
 * Updates the text of a comment. If only quick actions are left, they are applied and the comment is deleted.
 * @throws ApiError 400 for an invalid comment, 403 for callers who may not change it
 */
export async function rewriteComment(
  writing: Writing,
  granted: OnNoteable,
  note: NoteRow,
  body: string,
): Promise<Written> {
  const { caller, on } = granted;
  if (!mayChange(on, caller, note)) throw forbidden();
  checkBody(body);
  const { text, commands } = await extracted(body, writing.noun);
  return repeated(writing.db, async (tx) => {
    if (text.trim() === '') {
      await deleteNote(tx, writing.noun, on, note);
      return onlyCommands(tx, writing, granted, commands);
    }
    const { id, internal } = note;
    const changed = tx
      .updateTable('notes')
      .set(stamped({ body: text }))
      .where('id', '=', id);
    found(undefined, await changed.returning('id').executeTakeFirst());
    await noteMentions(tx, {
      actor: caller,
      noteable: on,
      note_id: id,
      internal,
      text,
      url: writing.url,
      is_edited: true,
    });
    if (text !== note.body) {
      await writeSuggestions(tx, writing, on, note, text);
      await touch(tx, on);
      await tellOfNote(tx, writing.noun, granted, id, 'update');
    }
    return { note: await noteWith(tx, id), commands: await runCommands(tx, writing, granted, commands) };
  });
}

async function deleteNote(tx: Database, noun: Discussable, on: Noteable, note: NoteRow): Promise<void> {
  await deleteFound(tx, 'notes', note.id);
  await touch(tx, on);
  await settleWithout(tx, noun, on, note);
}

/**
 * Deletes a comment. The rest of its thread remains a thread.
 * @param unmodified_since the caller's `If-Unmodified-Since`
 * @throws ApiError 403 for callers who may not delete it, 412 when it has changed since
 */
export async function removeComment(
  db: Database,
  noun: Discussable,
  { caller, on }: OnNoteable,
  note: NoteRow,
  unmodified_since: Date | undefined,
): Promise<void> {
  if (!mayChange(on, caller, note)) throw forbidden();
  checkUnmodified(note.updated_at, unmodified_since);
  await repeated(db, (tx) => deleteNote(tx, noun, on, note));
}
