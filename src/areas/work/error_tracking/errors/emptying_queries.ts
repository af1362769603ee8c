/** Deletes the errors and sessions of projects before the projects. */
import { type RawBuilder, sql } from 'kysely';
import type { Emptying } from '../../../../services/index.ts';

/** Rows per statement, which locks them until it has deleted them. */
const batch = sql.lit(5000);
/** For rows whose deletion cascades to many others. */
const smallBatch = sql.lit(100);

const ofErrors = (ids: RawBuilder<unknown>) =>
  sql`array(select id from error_tracking_errors where project_id = any(${ids}))`;
const ofReleases = (ids: RawBuilder<unknown>) =>
  sql`array(select id from error_tracking_releases where project_id = any(${ids}))`;

export const emptyErrors: Emptying = {
  batches: (ids) => [
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
  ],
};
