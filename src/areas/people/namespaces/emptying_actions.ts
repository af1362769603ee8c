/** Emptying projects that are about to be deleted: what they can have millions of goes in batches before, so that the deletion itself takes no minutes. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** Rows of one statement, which holds them until it has deleted them. */
const batch = sql.lit(5000);
/** Of rows that take many others with them. */
const smallBatch = sql.lit(100);

const ofErrors = (ids: RawBuilder<unknown>) => sql`array(select id from error_tracking_errors where project_id = any(${ids}))`;
const ofReleases = (ids: RawBuilder<unknown>) =>
  sql`array(select id from error_tracking_releases where project_id = any(${ids}))`;

/**
 * Each deletes one batch. Rows that another transaction is working on are left for the next one, or for the deletion of the project.
 * @param ids an array of the ids of projects
 */
const batchesOf = (ids: RawBuilder<unknown>): RawBuilder<unknown>[] => [
  sql`delete from error_tracking_events where (received_at, id) in (
        select received_at, id from error_tracking_events where project_id = any(${ids}) limit ${batch} for update skip locked)`,
  sql`delete from error_tracking_error_users where (error_id, user_hash) in (
        select error_id, user_hash from error_tracking_error_users where error_id = any(${ofErrors(ids)}) limit ${batch} for update skip locked)`,
  sql`delete from error_tracking_errors where id in (
        select id from error_tracking_errors where project_id = any(${ids}) limit ${smallBatch} for update skip locked)`,
  sql`delete from error_tracking_sessions where (release_id, session_id) in (
        select release_id, session_id from error_tracking_sessions where release_id = any(${ofReleases(ids)}) limit ${batch} for update skip locked)`,
  sql`delete from error_tracking_release_users where (release_id, user_hash) in (
        select release_id, user_hash from error_tracking_release_users where release_id = any(${ofReleases(ids)}) limit ${batch} for update skip locked)`,
];

/**
 * Deletes what projects have very many of. It stops when they are not to be deleted any more.
 * @param which a predicate on rows of `projects`, which says that they are to be deleted
 * @param signal stops the work between two statements
 */
export async function emptyProjects(db: Database, which: RawBuilder<unknown>, signal: AbortSignal): Promise<void> {
  for (const statement of batchesOf(sql`array(select projects.id from projects where ${which})`))
    for (let count = 1n; count > 0n; ) {
      signal.throwIfAborted();
      count = (await statement.execute(db)).numAffectedRows ?? 0n;
    }
}
