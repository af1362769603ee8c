/** Running moves of repositories between storages (docs/reference/storage_moves.md#how-a-move-runs). */
import { sql } from 'kysely';
import { type Database, isUnavailable } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { job, type Poll } from '../../../jobs/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { releaseCopy } from './actions.ts';
import { relocate, removeCopies, removeSources } from './copy_actions.ts';
import type { StorageMove } from './definition.ts';
import { copiesOf, movedBy, moveRow, moves, returnsTooSoon } from './queries.ts';
import { failureText, MoveFailed } from './rules.ts';
import { beginMove, changeState, failMove, giveUpRun, whileItsRun } from './run_actions.ts';

/** A move is not restarted after this many runs that ended in a crash. */
const maximumRuns = 3;

/** The description of a move in log lines. */
const described = (move: StorageMove) => {
  const { container, id } = movedBy(move);
  return {
    move_id: move.id,
    kind: container.name,
    id,
    source: move.source_storage,
    destination: move.destination_storage,
  };
};

/**
 * Runs a move; enqueued for scheduled moves as others end. It can be interrupted at any point: an interrupted move is
 * still marked as started, and is started again.
 */
export const moveRepositories = job('move_repositories', {
  input: { move_id: Id },
  retries: 20,
  run: async ({ input: { move_id }, signal, log, ...services }) => {
    const move = await beginMove(services.db, move_id);
    if (!move) return;
    const began_ms = performance.now();
    log.info(described(move), 'a storage move has started');
    try {
      if (move.runs > maximumRuns) throw new MoveFailed('The server was stopped three times while this move ran.');
      const bytes = await whileItsRun(services.db, move, signal, (own) => relocate(services, move, own));
      if ((await moveRow(services.db, move_id).executeTakeFirst())?.copied.length === 0)
        await changeState(services.db, move, 'finished');
      log.info(
        { ...described(move), bytes, duration_ms: Math.round(performance.now() - began_ms) },
        'a storage move has switched',
      );
    } catch (error) {
      if (signal.aborted) await giveUpRun(services.db, move);
      if (signal.aborted || isUnavailable(error)) throw error;
      const { source_storage: source, destination_storage: destination } = move;
      const message = failureText(error, { source, destination, source_path: services.storages[source] });
      if (await failMove(services.db, move, message, (tx) => removeCopies(services, tx, move, log)))
        log.error({ ...described(move), err: error }, 'a storage move has failed');
      else log.warn({ ...described(move), err: error }, 'another run has taken over a storage move');
    }
    await beginScheduled(services.db);
  },
});

/**
 * Enqueues scheduled moves in the order of their ids, up to the limit of concurrent moves.
 * @param tx the transaction that schedules moves, or in which one has ended
 */
export async function beginScheduled(tx: Database): Promise<void> {
  const { repository_storage_move_limit: most } = await settingsOf(tx);
  const { rows } = await sql<{ id: number }>`
    select id from repository_storage_moves where state = 'scheduled' and not ${returnsTooSoon} order by id
     limit greatest(0, ${most} - (select count(*) from repository_storage_moves where state = 'started'))`.execute(tx);
  for (const { id } of rows) await enqueueMove(tx, id);
}

/** Many more than the number of concurrent moves, so that two of them rarely share a queue. */
const queues = 64;

/**
 * A move may be enqueued again while it starts. Jobs of one queue run one after another, so it never runs twice at the
 * same time.
 */
const enqueueMove = (tx: Database, move_id: number) =>
  moveRepositories.enqueue(tx, { move_id }, { key: String(move_id), queue: `storage_moves_${move_id % queues}` });

/** Resumes started moves without a job, from a restored backup or a lost queue. */
async function resumeLost(db: Database): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select id from repository_storage_moves moves where state = 'started' and not exists (
      select from graphile_worker._private_jobs jobs join graphile_worker._private_tasks tasks on tasks.id = jobs.task_id
       where identifier = ${moveRepositories.name} and (payload->>'move_id')::bigint = moves.id and (attempts < max_attempts or locked_at is not null))`.execute(
    db,
  );
  for (const { id } of rows) await enqueueMove(db, id);
}

/** How long a server may take to notice a switch, and how long a source is kept that may still be read. */
const grace = sql`interval '10 seconds'`;
const maximumUse = sql`interval '1 hour'`;

/** Resumes waiting moves, and removes the sources of switched ones once no process reads them. */
export const continueMoves: Poll = {
  name: 'continue storage moves',
  every_ms: 2_000,
  run: async ({ log, ...services }) => {
    const { rows } = await sql<{ state: string }>`
      select distinct state from repository_storage_moves where state in ('scheduled', 'started', 'replicated')`.execute(
      services.db,
    );
    const states = rows.map(({ state }) => state);
    if (states.includes('scheduled')) await beginScheduled(services.db);
    if (states.includes('started')) await resumeLost(services.db);
    if (!states.includes('replicated')) return false;
    return services.db.transaction().execute(async (tx) => {
      const move = await moves(tx)
        .where('state', '=', 'replicated')
        .where(
          sql<boolean>`replicated_at < now() - ${grace} and (coalesce(used_until, '-infinity') < now() or replicated_at < now() - ${maximumUse})`,
        )
        .orderBy('id')
        .limit(1)
        .forUpdate()
        .skipLocked()
        .executeTakeFirst();
      if (!move) return false;
      try {
        await removeSources(services, tx, move);
        await changeState(tx, move, 'finished');
        log.info(described(move), 'a storage move has finished');
      } catch (error) {
        if (isUnavailable(error)) throw error;
        log.error({ ...described(move), err: error }, 'the source of a storage move could not be removed');
        await changeState(tx, move, 'cleanup failed', 'The source repository could not be removed.');
        for (const copy of copiesOf(services, move)) await releaseCopy(tx, copy, move.source_storage);
      }
      return true;
    });
  },
};
