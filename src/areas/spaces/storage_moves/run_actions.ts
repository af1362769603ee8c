/**
 * The runs of moves: each change of state is conditional on the run that makes it, so a run that another has taken over
 * changes nothing.
 */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { whileOurs } from '../../../jobs/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import type { State, StorageMove } from './definition.ts';
import { lockContainer, movedBy, moveRow, returnsTooSoon } from './queries.ts';
import { before } from './rules.ts';

/** An arbitrary number that must never change: the holder of this lock decides which moves start. */
const beginning = 726_673_042;

/** Another run has started the move, or ended it. */
export class TakenOver extends Error {
  override name = 'TakenOver';
  constructor(id: number) {
    super(`Another run has begun the move ${id}, or ended it.`);
  }
}

/**
 * Changes the state of a move, if the transition is possible and no later run has started it again.
 * @param move as read by the caller's run
 * @returns whether it was changed
 */
export async function changeState(
  tx: Database,
  { id, runs }: Pick<StorageMove, 'id' | 'runs'>,
  state: keyof typeof before,
  error_message: string | null = null,
): Promise<boolean> {
  const changed = tx
    .updateTable('repository_storage_moves')
    .set({ state, error_message, ...(state === 'replicated' ? { replicated_at: sql<string>`clock_timestamp()` } : {}) })
    .where('id', '=', id)
    .where('runs', '=', runs)
    .where('state', 'in', before[state] as State[]);
  return (await changed.returning('id').executeTakeFirst()) !== undefined;
}

/**
 * Runs a change that only the latest run of a move may make: until it is complete, no other run can start.
 * @throws TakenOver
 */
export const asItsRun = (
  db: Database,
  { id, runs }: Pick<StorageMove, 'id' | 'runs'>,
  work: (tx: Database) => Promise<void>,
): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const own = moveRow(tx, id).where('runs', '=', runs).where('state', '=', 'started').forUpdate();
    if (!(await own.executeTakeFirst())) throw new TakenOver(id);
    await work(tx);
  });

const asked_ms = 1_000;

/**
 * Runs `work` until it is complete, or a later run has started.
 * @param signal also aborts it
 * @throws TakenOver, and the error of a database that cannot tell whether this run is the latest
 */
export const whileItsRun = <T>(
  db: Database,
  { id, runs }: Pick<StorageMove, 'id' | 'runs'>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const confirm = async () => {
    if (!(await moveRow(db, id).where('runs', '=', runs).executeTakeFirst())) throw new TakenOver(id);
  };
  return whileOurs({ every_ms: asked_ms, confirm }, signal, work);
};

/**
 * Starts a move, or restarts it after a crash: from now on its repositories are read-only.
 * @returns the move, including this run in its count; undefined if it has ended, or if the limit of concurrent moves is
 * reached
 */
export const beginMove = (db: Database, id: number): Promise<StorageMove | undefined> =>
  db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${beginning})`.execute(tx);
    const { repository_storage_move_limit: most } = await settingsOf(tx);
    const { rows } = await sql<{ running: number }>`
      select count(*)::integer as running from repository_storage_moves where state = 'started' and id <> ${id}`.execute(
      tx,
    );
    if (rows[0]!.running >= most) return undefined;
    const asked = await moveRow(tx, id).where(sql<boolean>`not ${returnsTooSoon}`).executeTakeFirst();
    if (!asked) return undefined;
    await lockContainer(tx, movedBy(asked));
    if (!(await changeState(tx, asked, 'started'))) return undefined;
    const runs = asked.runs + 1;
    await tx.updateTable('repository_storage_moves').set({ runs }).where('id', '=', id).execute();
    return { ...asked, runs };
  });

/** Takes back the count of a run that ends because the server stops, not because of a crash. */
export async function giveUpRun(db: Database, { id, runs }: Pick<StorageMove, 'id' | 'runs'>): Promise<void> {
  const own = db.updateTable('repository_storage_moves').where('id', '=', id).where('runs', '=', runs);
  await own.set({ runs: runs - 1 }).execute();
}

/**
 * Ends a failed move.
 * @param remove removes its copies, before another move of the container can begin
 * @returns false if another run has started the move, or ended it: then its copies may be in use
 */
export const failMove = (
  db: Database,
  move: StorageMove,
  message: string,
  remove: (tx: Database) => Promise<void>,
): Promise<boolean> =>
  db.transaction().execute(async (tx) => {
    if (!(await changeState(tx, move, 'failed', message))) return false;
    await remove(tx);
    return true;
  });
