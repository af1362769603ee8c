/** Deletes the pipelines and statuses of projects before the projects. */
import { type RawBuilder, sql } from 'kysely';
import type { Emptying } from '../../../services/index.ts';

const batch = sql.lit(5000);

/** Statuses first: deleting a pipeline would delete all its statuses at once. */
const emptied = (table: 'commit_statuses' | 'pipelines', ids: RawBuilder<unknown>) => sql`
  delete from ${sql.table(table)} where id in (
    select id from ${sql.table(table)} where project_id = any(${ids}) limit ${batch} for update skip locked)`;

export const emptyPipelines: Emptying = {
  batches: (ids) => [emptied('commit_statuses', ids), emptied('pipelines', ids)],
};
