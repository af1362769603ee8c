/** Queries for threads. */
import type { MaybeCaller, OnNoteable } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import { found, type Page } from '../../../http/index.ts';
import { type Paging, paginate } from '../../../lists/index.ts';
import { isOn, isVisibleNote, type NoteRow, notesFor } from '../notes/queries.ts';
import { mayReadInternal } from '../notes/rules.ts';

export interface Thread {
  discussion_id: string;
  notes: NoteRow[];
}

/** The threads and single comments of a page, oldest first; a page counts threads. */
export async function threadsOf(db: Database, granted: OnNoteable<MaybeCaller>, input: Paging): Promise<Page<Thread>> {
  const first = db
    .selectFrom('notes')
    .select('notes.discussion_id')
    .where('notes.starts_discussion', '=', true)
    .where(isOn(granted.on))
    .where(isVisibleNote(granted.caller, mayReadInternal(granted.on)))
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

const notesOfThreads = (
  db: Database,
  granted: OnNoteable<MaybeCaller>,
  discussion_ids: readonly string[],
): Promise<NoteRow[]> =>
  notesFor(db, granted)
    .where(isAmong('notes.discussion_id', discussion_ids, 'text[]'))
    .orderBy('notes.created_at')
    .orderBy('notes.id')
    .execute();

/**
 * The notes of one thread, oldest first; at least one.
 * @param missing the noun in the 404
 * @throws ApiError 404
 */
export async function notesOfThread(
  db: Database,
  granted: OnNoteable<MaybeCaller>,
  discussion_id: string,
  missing: string,
): Promise<NoteRow[]> {
  const notes = await notesOfThreads(db, granted, [discussion_id]);
  found(missing, notes[0]);
  return notes;
}
