/** Resolving the threads of a noun that lets them be resolved (docs/reference/discussions.md#resolving). */
import { sql } from 'kysely';
import { type Issuable, isIssuable, type Noteable, type OnNoteable } from '../../../access/index.ts';
import { type Database, isAmong, repeated } from '../../../db/index.ts';
import { forbidden } from '../../../http/index.ts';
import { addSystemNote } from './actions.ts';
import type { Discussable, Threads } from './definition.ts';
import { isOn, isOpen, isResolvable, type NoteRow, touch } from './queries.ts';
import { notResolvable } from './rules.ts';

/** Which notes are resolved or opened: all of some threads, or one. */
type Which = { discussion_ids: readonly string[] } | { id: number };

/** What follows when no thread is open any more. */
type Settling = Pick<Threads, 'afterLastThread'>;

/** @throws ApiError 403 for callers who may not resolve */
async function resolvedOn(db: Database, threads: Threads, { caller, on }: OnNoteable): Promise<Issuable> {
  if (!isIssuable(on) || !(await threads.mayResolve(db, { caller, on }))) throw forbidden();
  return on;
}

/**
 * Resolves the notes of a thread, or opens them again. Those that are so already stay.
 * @throws ApiError 403 for callers who may not
 */
export async function resolveThread(
  db: Database,
  threads: Threads,
  granted: OnNoteable,
  discussion_id: string,
  resolved: boolean,
): Promise<void> {
  const on = await resolvedOn(db, threads, granted);
  await repeated(db, (tx) =>
    markResolved(tx, threads, on, granted.caller.id, { discussion_ids: [discussion_id] }, resolved),
  );
}

/**
 * The same for one note of a thread.
 * @throws ApiError 403 for callers who may not, 400 for a note that cannot be resolved
 */
export async function resolveNote(
  db: Database,
  threads: Threads,
  granted: OnNoteable,
  note: NoteRow,
  resolved: boolean,
): Promise<void> {
  const on = await resolvedOn(db, threads, granted);
  if (!isResolvable(note)) throw notResolvable();
  await repeated(db, (tx) => markResolved(tx, threads, on, granted.caller.id, { id: note.id }, resolved));
}

/**
 * Resolves threads whose place in the code is gone, with what follows.
 * @param tx the transaction of the change
 * @param user_id who changed the code; null for no one
 */
export const resolveOutdated = (
  tx: Database,
  threads: Settling,
  on: Issuable,
  user_id: number | null,
  discussion_ids: readonly string[],
): Promise<void> => markResolved(tx, threads, on, user_id, { discussion_ids }, true);

/**
 * Marks notes as resolved or open, with what follows. The caller has been asked whether they may.
 * @param tx the transaction of the change, which locks what the notes are on
 * @param user_id who resolves them; null for no one
 */
export async function markResolved(
  tx: Database,
  threads: Settling,
  on: Issuable,
  user_id: number | null,
  which: Which,
  resolved: boolean,
): Promise<void> {
  const isIt =
    'id' in which ? sql<boolean>`id = ${which.id}` : isAmong('discussion_id', which.discussion_ids, 'text[]');
  const changed = await tx
    .updateTable('notes')
    .set(resolved ? { resolved_at: sql`now()`, resolved_by_id: user_id } : { resolved_at: null, resolved_by_id: null })
    .where(isOn(on))
    .where(isIt)
    .where(resolved ? isOpen : sql<boolean>`notes.resolved_at is not null`)
    .returning('id')
    .execute();
  if (changed.length === 0) return;
  await touch(tx, on);
  if (resolved && (await settleThreads(tx, threads, on))) await addSystemNote(tx, on, user_id, 'resolved all threads');
}

/**
 * Does what follows when no thread is open any more.
 * @param tx a transaction that has updated what the threads are on, so that of two that end the last threads one sees it
 * @returns whether none is open
 */
async function settleThreads(tx: Database, threads: Settling, on: Issuable): Promise<boolean> {
  const open = await tx.selectFrom('notes').select('id').where(isOn(on)).where(isOpen).limit(1).executeTakeFirst();
  if (!open) await threads.afterLastThread(tx, on);
  return !open;
}

/** What follows when a note was deleted: it may have been the last one that was open. */
export async function settleWithout(
  tx: Database,
  { threads }: Discussable,
  on: Noteable,
  note: NoteRow,
): Promise<void> {
  if (threads && isIssuable(on) && isResolvable(note) && note.resolved_at === null)
    await settleThreads(tx, threads, on);
}
