/** Whether a merge request is being rebased. */
import { type RawBuilder, sql } from 'kysely';

/** After this time, a rebase that did not report its end counts as ended. */
const maximumDuration = sql`interval '1 hour'`;

/** A predicate on the row of a merge request: a rebase of it is running. */
export const isRebasing = (table: string): RawBuilder<boolean> =>
  sql<boolean>`coalesce(${sql.ref(`${table}.rebase_started_at`)} >= now() - ${maximumDuration}, false)`;
