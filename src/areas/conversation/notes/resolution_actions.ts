/** Resolving threads on a noun that supports it (docs/reference/discussions.md#resolving). */
import { sql } from 'kysely';
import { type Issuable, isIssuable, type Noteable, type OnNoteable } from '../../../access/index.ts';
import { type Database, isAmong, repeated } from '../../../db/index.ts';
import { forbidden } from '../../../http/index.ts';
import { addSystemNote } from './actions.ts';
import type { Discussable, Threads } from './definition.ts';
import { isOn, isOpen, isResolvable, type NoteRow, touch } from './queries.ts';
import { notResolvable } from './rules.ts';

/** The notes to resolve or reopen: all notes of some threads, or one note. */
type Which = { discussion_ids: readonly string[] } | { id: number };

/** The follow-up when no thread is open any more. */
type Settling = Pick<Threads, 'afterLastThread'>;

/** @throws ApiError 403 for callers who may not resolve threads */
async function resolvedOn(db: Database, threads: Threads, { caller, on }: OnNoteable): Promise<Issuable> {
  if (!isIssuable(on) || !(await threads.mayResolve(db, { caller, on }))) throw forbidden();
  return on;
}

/**
 * Resolves or reopens the notes of a thread. Notes already in this state do not change.
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
 * Resolves threads whose lines no longer exist, with the follow-up.
 * @param tx the transaction of the change
 * @param user_id the user who changed the code; null for none
 */
export const resolveOutdated = (
  tx: Database,
  threads: Settling,
  on: Issuable,
  user_id: number | null,
  discussion_ids: readonly string[],
): Promise<void> => markResolved(tx, threads, on, user_id, { discussion_ids }, true);

/**
 * Marks notes as resolved or open, with the follow-up. The caller's rights have been checked.
 * @param tx the transaction of the change, which locks the noteable
 * @param user_id the user who resolves them; null for none
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
 * Runs the follow-up if no thread is open any more.
 * @param tx a transaction that has updated the noteable, so that if two transactions resolve the last threads, the
 * later one sees that none is open
 * @returns whether none is open
 */
async function settleThreads(tx: Database, threads: Settling, on: Issuable): Promise<boolean> {
  const open = await tx.selectFrom('notes').select('id').where(isOn(on)).where(isOpen).limit(1).executeTakeFirst();
  if (!open) await threads.afterLastThread(tx, on);
  return !open;
}

/** Runs the follow-up after a note was deleted, which may have been the last open one. */
export async function settleWithout(
  tx: Database,
  { threads }: Discussable,
  on: Noteable,
  note: NoteRow,
): Promise<void> {
  if (threads && isIssuable(on) && isResolvable(note) && note.resolved_at === null)
    await settleThreads(tx, threads, on);
}
