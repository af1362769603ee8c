/**
 * Each site checks whether its database is replicated as it should be. A secondary starts and repairs the replication
 * from its primary.
 */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Poll, PollCall } from '../../../jobs/index.ts';
import { OutboundError } from '../../../outbound/index.ts';
import { refusalSentence } from '../link/check_queries.ts';
import { schemaVersion } from '../link/queries.ts';
import { askPrimaryForJson, PrimaryRefusal } from '../link/request_actions.ts';
import { startCopy } from './copy_actions.ts';
import { type Followed, subscription } from './definition.ts';
import { endUnwantedSlots } from './publication_actions.ts';
import { installationOf, otherInstallation, type Progress, progressOf } from './queries.ts';

/** If a position is not reached within this time while the subscription keeps failing, it never will be. */
const hopeless = sql`interval '60 seconds'`;
/** One failure may be only a broken connection. */
const failures = 3;

type FollowingRow = Awaited<ReturnType<typeof rowOf>>;
const rowOf = (db: Database) => db.selectFrom('geo_following').selectAll().executeTakeFirstOrThrow();

/** Changes the state, and logs a new problem. */
async function settle(
  { db, log }: PollCall,
  row: FollowingRow,
  state: FollowingRow['state'],
  problem: string | null,
): Promise<void> {
  if (row.state === state && row.problem === problem) return;
  await db.updateTable('geo_following').set({ state, problem }).execute();
  if (problem !== null && problem !== row.problem) log.warn(problem);
}

async function enable({ db }: PollCall, { enabled }: Progress, wanted: boolean): Promise<void> {
  if (enabled !== wanted)
    await sql`alter subscription ${sql.ref(subscription)} ${sql.raw(wanted ? 'enable' : 'disable')}`.execute(db);
}

/**
 * Records whether the position of the primary at an earlier poll has been reached.
 * @returns whether it can no longer be reached
 */
async function measure(
  { db }: PollCall,
  { position: there }: Followed,
  { position: here, errors }: Progress,
): Promise<boolean> {
  const { rows } = await sql<{ isHopeless: boolean }>`
    update geo_following
       set caught_up_at = case when ${here}::pg_lsn >= ${there}::pg_lsn then now()
                               when ${here}::pg_lsn >= awaited_position then awaited_at else caught_up_at end,
           awaited_at = case when ${here}::pg_lsn >= awaited_position or awaited_position is null then now() else awaited_at end,
           awaited_errors = case when ${here}::pg_lsn >= awaited_position or awaited_position is null then ${errors} else awaited_errors end,
           awaited_position = case when ${here}::pg_lsn >= awaited_position or awaited_position is null then ${there}::pg_lsn
                                   else awaited_position end
    returning awaited_at < now() - ${hopeless} and ${errors} >= awaited_errors + ${failures} as "isHopeless"`.execute(
    db,
  );
  return rows[0]!.isHopeless;
}

/** The interval at which the progress of a copy is logged; a copy may take hours. */
const told_ms = 10_000;
/** When progress was logged last, by the database that is copied to. */
const toldAt = new WeakMap<Database, number>();

/** Logs the progress of the copy, unless it was logged a moment ago. */
function tell({ db, log }: PollCall, { tables, copied, rows }: Progress): void {
  const now = performance.now();
  if (now - (toldAt.get(db) ?? Number.NEGATIVE_INFINITY) < told_ms) return;
  toldAt.set(db, now);
  const more = rows === 0 ? '' : `, and ${rows} rows of others`;
  log.info(`the database of the primary is being copied: ${copied} of ${tables} tables${more}`);
}

/** Starts a copy, and logs its first progress. */
async function copyAll(call: PollCall, row: FollowingRow, followed: Followed, problem: string | null): Promise<void> {
  await startCopy(call, call.db, followed, row.server, problem);
  toldAt.delete(call.db);
  const progress = await progressOf(call.db);
  if (progress) tell(call, progress);
}

/** Compares the reply of the primary with the state here. */
async function follow(call: PollCall, row: FollowingRow, followed: Followed): Promise<void> {
  const { db } = call;
  const installation = await installationOf(db);
  if (installation !== undefined && installation !== followed.installation)
    return settle(call, row, 'waiting', otherInstallation);
  const [schema, progress] = [await schemaVersion(db), await progressOf(db)];
  if (schema !== followed.schema) {
    if (progress) await enable(call, progress, false);
    return settle(call, row, 'paused', `The schema is ${schema} here and ${followed.schema} on the primary.`);
  }
  const copy = (problem: string | null) => copyAll(call, row, followed, problem);
  if (!progress || row.slot === null) return copy(null);
  if (followed.slot !== 'usable')
    return copy('The primary has not kept all changes for this site, so the database is copied anew.');
  await enable(call, progress, true);
  const isHopeless = await measure(call, followed, progress);
  if (row.copied_at === null) {
    if (progress.left === 0) return conclude(call);
    tell(call, progress);
    return settle(call, row, 'copying', row.problem);
  }
  if (isHopeless) return copy('Changes of the primary could not be applied, so the database is copied anew.');
  await settle(call, row, 'following', null);
}

const conclude = async ({ db, log }: PollCall) => {
  await db
    .updateTable('geo_following')
    .set({ state: 'following', problem: null, copied_at: sql`now()`, caught_up_at: sql`coalesce(caught_up_at, now())` })
    .execute();
  log.info('the database of the primary is copied');
};

function sentenceOf(error: unknown, nodeName: string): string {
  if (error instanceof OutboundError) return `The primary cannot be reached: ${error.message}.`;
  if (!(error instanceof PrimaryRefusal)) throw error;
  return error.status === 401 ? refusalSentence(error, nodeName) : error.message;
}

/** Only one worker of a site runs this at a time. */
const lock = 726_673_010;

export const followPrimary: Poll = {
  name: 'follow_primary',
  every_ms: 2000,
  run: async (call) => {
    const { db, geo } = call;
    await db.connection().execute(async (held) => {
      const { rows } = await sql<{ isMine: boolean }>`select pg_try_advisory_lock(${lock}) as "isMine"`.execute(held);
      if (!rows[0]!.isMine) return;
      try {
        const row = await rowOf(db);
        const path = `/following?server=${row.server}&slot=${row.slot ?? ''}`;
        const followed = await askPrimaryForJson<Followed>(call, { method: 'GET', path }).catch((error: unknown) =>
          settle(call, row, row.state, sentenceOf(error, geo.nodeName)),
        );
        if (followed) await follow(call, row, followed);
      } finally {
        await sql`select pg_advisory_unlock(${lock})`.execute(held);
      }
    });
    return false;
  },
};

/** A primary keeps changes only for its nodes, and sends them only to enabled ones. */
export const keepSlots: Poll = {
  name: 'keep_slots',
  every_ms: 5000,
  run: async ({ db, geo }) => {
    if (geo.role === 'primary') await endUnwantedSlots(db);
    return false;
  },
};
