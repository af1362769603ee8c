/** How the feature flags of projects are deleted before these are. */
import { sql } from 'kysely';
import type { Emptying } from '../../../services/index.ts';

/** Rows of one statement. A flag takes its strategies and scopes with it. */
const batch = sql.lit(20);

export const emptyFeatureFlags: Emptying = {
  batches: (ids) => [
    sql`delete from feature_flags where id in (
        select id from feature_flags where project_id = any(${ids}) limit ${batch} for update skip locked)`,
  ],
};
