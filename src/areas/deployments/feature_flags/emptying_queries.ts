/** Deletes the feature flags of projects before the projects. */
import { sql } from 'kysely';
import type { Emptying } from '../../../services/index.ts';

/** Rows per statement. Deleting a flag also deletes its strategies and scopes. */
const batch = sql.lit(20);

export const emptyFeatureFlags: Emptying = {
  batches: (ids) => [
    sql`delete from feature_flags where id in (
        select id from feature_flags where project_id = any(${ids}) limit ${batch} for update skip locked)`,
  ],
};
