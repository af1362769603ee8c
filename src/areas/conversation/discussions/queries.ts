/** Comments and threads as their routes read them. */
import { sql } from 'kysely';
import type { MaybeCaller } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { found, type Page, type Paging, paginate } from '../../../http/index.ts';
import { isOn, isVisibleNote, type NoteRow, noteRows } from '../notes/index.ts';
import { type Granted, mayReadInternal } from './parent.ts';

/** The notes on an issue or epic that the caller may read. */
const notesFor = (db: Database, { caller, parent }: Granted<MaybeCaller>) =>
  noteRows(db)
    .where(isOn(parent.noteable))
    .where(isVisibleNote(caller, mayReadInternal(parent)));

export interface Thread {
  discussion_id: string;
  notes: NoteRow[];
}

/** The threads and single comments of a page, oldest first; a page counts threads. */
export async function threadsOf(db: Database, granted: Granted<MaybeCaller>, input: Paging): Promise<Page<Thread>> {
  const first = db
    .selectFrom('notes')
    .select('notes.discussion_id')
    .where('notes.starts_discussion', '=', true)
    .where(isOn(granted.parent.noteable))
    .where(isVisibleNote(granted.caller, mayReadInternal(granted.parent)))
    .orderBy('notes.created_at')
    .orderBy('notes.id');
  const page = await paginate(db, first, input);
  const ids = page.items.map(({ discussion_id }) => discussion_id);
  const notes = ids.length === 0 ? [] : await notesOfThreads(db, granted, ids);
  const byThread = Map.groupBy(notes, ({ discussion_id }) => discussion_id);
  return {
    ...page,
    items: ids
      .map((discussion_id) => ({ discussion_id, notes: byThread.get(discussion_id) ?? [] }))
      .filter(({ notes }) => notes.length > 0),
  };
}

const notesOfThreads = (db: Database, granted: Granted<MaybeCaller>, discussion_ids: readonly string[]): Promise<NoteRow[]> =>
  notesFor(db, granted)
    .where(sql<boolean>`notes.discussion_id = any(${ofAnyLength(discussion_ids, 'text[]')})`)
    .orderBy('notes.created_at')
    .orderBy('notes.id')
    .execute();

/**
 * The notes of one thread, oldest first; at least one.
 * @param missing how the 404 names what is not there
 * @throws ApiError 404
 */
export async function notesOfThread(
  db: Database,
  granted: Granted<MaybeCaller>,
  discussion_id: string,
  missing: string,
): Promise<NoteRow[]> {
  const notes = await notesOfThreads(db, granted, [discussion_id]);
  found(missing, notes[0]);
  return notes;
}

/** Which notes are asked for. */
export interface NoteFilter {
  activity_filter: 'all_notes' | 'only_comments' | 'only_activity';
  order_by: 'created_at' | 'updated_at';
  sort: 'asc' | 'desc';
}

/** A page of the notes outside threads: those within belong to the discussions (specification part 1, section 2.7). */
export function singleNotesOf(db: Database, granted: Granted<MaybeCaller>, input: Paging & NoteFilter): Promise<Page<NoteRow>> {
  const { activity_filter, order_by, sort } = input;
  const all = notesFor(db, granted).where('notes.type', 'is', null);
  const wanted = activity_filter === 'all_notes' ? all : all.where('notes.system', '=', activity_filter === 'only_activity');
  return paginate(db, wanted.orderBy(`notes.${order_by}`, sort).orderBy('notes.id', sort), input);
}

/**
 * One note, which the caller may read.
 * @param single whether one inside a thread does not count
 * @throws ApiError 404
 */
export async function noteOf(db: Database, granted: Granted<MaybeCaller>, note_id: number, single: boolean): Promise<NoteRow> {
  const query = notesFor(db, granted).where('notes.id', '=', note_id);
  return found(undefined, await (single ? query.where('notes.type', 'is', null) : query).executeTakeFirst());
}
