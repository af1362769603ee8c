/** Writing, changing and removing comments, each with all that follows from it in one transaction. */
import { sql } from 'kysely';
import { type Noteable, noteableColumns, type OnNoteable } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { checkUnmodified, forbidden, found, type Plan, type Services } from '../../../http/index.ts';
import { recordEvent } from '../../activity/events/index.ts';
import { doneTodos } from '../../activity/todos/index.ts';
import { applyCommands, type Command, type Commandable, type CommandOutcome, extractCommands } from '../quick_actions/index.ts';
import { noteMentions } from './mention_actions.ts';
import type { Written } from './present.ts';
import { isOn, type NoteRow, noteRows } from './queries.ts';
import { cannotBeRepliedTo, checkBody, commandsFailed, mayChange, mayComment, mayDate, mayReadInternal } from './rules.ts';

/** Where comments are written, what holds there, and what quick actions do to what is commented on. */
export type Writing = Pick<Services, 'db' | 'url'> & { plan: Plan; noun: Commandable };

export interface NewComment {
  body: string;
  /** ISO 8601; counts where the caller may say so. */
  created_at?: string | undefined;
  internal?: boolean | undefined;
  /** The thread that it answers in, or, without an id, that it begins; otherwise it stands alone. */
  thread?: { discussion_id?: string } | undefined;
}

/** Does what quick actions say. They come after the text they stood in: that crosses off to-dos, and one of them adds one. */
async function runCommands(
  tx: Database,
  { url, plan, noun }: Writing,
  { caller, on }: OnNoteable,
  commands: readonly Command[],
): Promise<CommandOutcome | undefined> {
  if (commands.length === 0) return undefined;
  return applyCommands(tx, noun, { caller, plan, url, on, is_new: false }, commands);
}

/** Does what a text says that is nothing but quick actions. */
async function onlyCommands(tx: Database, writing: Writing, granted: OnNoteable, commands: readonly Command[]): Promise<Written> {
  const outcome = await runCommands(tx, writing, granted, commands);
  if (!outcome?.applied) throw commandsFailed();
  return { note: undefined, commands: outcome };
}

/** The note that a thread begins with. */
interface First {
  id: number;
  type: string | null;
  internal: boolean;
}

/**
 * The thread that is answered in, held until the answer is written.
 * @throws ApiError 404 where it is not there, or not for the caller; 400 for what nobody can answer
 */
async function threadToJoin(tx: Database, { on }: OnNoteable, discussion_id: string): Promise<First> {
  const first = await tx
    .selectFrom('notes')
    .select(['id', 'type', 'system', 'internal'])
    .where(isOn(on))
    .where('discussion_id', '=', discussion_id)
    .where('starts_discussion', '=', true)
    .forUpdate()
    .executeTakeFirst();
  const thread = found('Discussion', first && (!first.internal || mayReadInternal(on)) ? first : undefined);
  if (thread.system) throw cannotBeRepliedTo();
  return thread;
}

/** Makes a comment that is answered the first of a thread. */
async function openThread(tx: Database, { id, type }: First): Promise<void> {
  if (type === null) await tx.updateTable('notes').set({ type: 'DiscussionNote' }).where('id', '=', id).execute();
}

/** An issue or epic is as new as what was last said on it. */
async function touch(tx: Database, noteable: Noteable): Promise<void> {
  await sql`update ${sql.table(noteable.kind.table)} set updated_at = now() where id = ${noteable.id}`.execute(tx);
}

const noteWith = (tx: Database, id: number): Promise<NoteRow> =>
  noteRows(tx).where('notes.id', '=', id).executeTakeFirstOrThrow();

/** Writes the row of a comment and the event of it. */
async function addNote(
  tx: Database,
  { caller, on }: OnNoteable,
  text: string,
  comment: NewComment,
  inherited: boolean,
): Promise<NoteRow> {
  const { thread, internal = false } = comment;
  const { discussion_id } = thread ?? {};
  const at = mayDate(on) ? comment.created_at : undefined;
  const { id } = await tx
    .insertInto('notes')
    .values({
      ...noteableColumns(on),
      ...(discussion_id === undefined ? {} : { discussion_id, starts_discussion: false }),
      ...(at === undefined ? {} : { created_at: at, updated_at: at }),
      type: thread === undefined ? null : 'DiscussionNote',
      body: text,
      author_id: caller.id,
      internal: internal || inherited,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await recordEvent(tx, {
    project_id: 'project' in on.in ? on.in.project.id : null,
    author_id: caller.id,
    action: 'commented',
    target_type: thread === undefined ? 'Note' : 'DiscussionNote',
    target_id: id,
    ...(at === undefined ? {} : { created_at: at }),
  });
  return noteWith(tx, id);
}

/**
 * Writes a comment, after its quick actions were done and taken out.
 * @throws ApiError 400 for what is no comment, 403 for who may not comment, 404 for a thread that is not there
 */
export async function writeComment(writing: Writing, granted: OnNoteable, comment: NewComment): Promise<Written> {
  const { caller, on } = granted;
  if (!mayComment(on) || (comment.internal && !mayReadInternal(on))) throw forbidden();
  checkBody(comment.body);
  const { text, commands } = extractCommands(comment.body, writing.noun);
  const discussion_id = comment.thread?.discussion_id;
  return writing.db.transaction().execute(async (tx) => {
    const joined = discussion_id === undefined ? undefined : await threadToJoin(tx, granted, discussion_id);
    if (text.trim() === '') return onlyCommands(tx, writing, granted, commands);
    if (joined) await openThread(tx, joined);
    const note = await addNote(tx, granted, text, comment, joined?.internal ?? false);
    await noteMentions(tx, {
      actor: caller,
      noteable: on,
      note_id: note.id,
      internal: note.internal,
      text,
      url: writing.url,
    });
    await doneTodos(tx, on, caller.id);
    await touch(tx, on);
    return { note, commands: await runCommands(tx, writing, granted, commands) };
  });
}

/**
 * Changes the text of a comment. One that says nothing but quick actions is removed after they were done.
 * @throws ApiError 400 for what is no comment, 403 for who may not change it
 */
export async function rewriteComment(writing: Writing, granted: OnNoteable, note: NoteRow, body: string): Promise<Written> {
  const { caller, on } = granted;
  if (!mayChange(on, caller, note)) throw forbidden();
  checkBody(body);
  const { text, commands } = extractCommands(body, writing.noun);
  return writing.db.transaction().execute(async (tx) => {
    if (text.trim() === '') {
      await deleteNote(tx, on, note.id);
      return onlyCommands(tx, writing, granted, commands);
    }
    const { id, internal } = note;
    const changes = { body: text, updated_at: sql<string>`now()` };
    found(undefined, await tx.updateTable('notes').set(changes).where('id', '=', id).returning('id').executeTakeFirst());
    await noteMentions(tx, { actor: caller, noteable: on, note_id: id, internal, text, url: writing.url });
    await touch(tx, on);
    return { note: await noteWith(tx, id), commands: await runCommands(tx, writing, granted, commands) };
  });
}

async function deleteNote(tx: Database, noteable: Noteable, id: number): Promise<void> {
  found(undefined, await tx.deleteFrom('notes').where('id', '=', id).returning('id').executeTakeFirst());
  await touch(tx, noteable);
}

/**
 * Removes a comment. What is left of its thread stays one.
 * @param unmodified_since the caller's `If-Unmodified-Since`
 * @throws ApiError 403 for who may not remove it, 412 where it has changed since
 */
export async function removeComment(
  db: Database,
  { caller, on }: OnNoteable,
  note: NoteRow,
  unmodified_since: Date | undefined,
): Promise<void> {
  if (!mayChange(on, caller, note)) throw forbidden();
  checkUnmodified(note.updated_at, unmodified_since);
  await db.transaction().execute((tx) => deleteNote(tx, on, note.id));
}
