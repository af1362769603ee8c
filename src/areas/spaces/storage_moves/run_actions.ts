/** The runs of moves: each change of state names the run that makes it, so one that another has taken over changes nothing. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { whileOurs } from '../../../jobs/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import type { State, StorageMove } from './definition.ts';
import { lockContainer, movedBy, moveRow, returnsTooSoon } from './queries.ts';
import { before } from './rules.ts';

/** An arbitrary number that must never change: who holds it decides which moves begin. */
const beginning = 726_673_042;

/** Another run has begun the move, or ended it. */
export class TakenOver extends Error {
  override name = 'TakenOver';
  constructor(id: number) {
    super(`Another run has begun the move ${id}, or ended it.`);
  }
}

/**
 * Changes the state of a move, if it is in one from which that is possible and no later run has begun it again.
 * @param move as the caller's run began it
 * @returns whether it was
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
 * Does something that only the latest run of a move may do: until it is done, no other run begins.
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
 * Works for a run until it is done, or the run is not the latest any more.
 * @param signal ends it as well
 * @throws TakenOver, and the error of a database that does not say whether it is the latest
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
 * Begins a move, or begins it again after a crash: from now on nothing is written to its repositories.
 * @returns the move, with this run counted; undefined when it has ended, or when as many run as may
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

/** Forgets that a run was begun, because the server stops and did not crash. */
export async function giveUpRun(db: Database, { id, runs }: Pick<StorageMove, 'id' | 'runs'>): Promise<void> {
  const own = db.updateTable('repository_storage_moves').where('id', '=', id).where('runs', '=', runs);
  await own.set({ runs: runs - 1 }).execute();
}

/**
 * Ends a move that has failed.
 * @param remove removes its copies, before another move of the container can begin
 * @returns false when another run has begun the move, or ended it: what that has copied may be in use
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
