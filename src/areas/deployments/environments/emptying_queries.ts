/** Deletes the deployments and environments of projects before the projects. */
import { type RawBuilder, sql } from 'kysely';
import type { Emptying } from '../../../services/index.ts';

const batch = sql.lit(5000);

const emptied = (table: 'deployments' | 'environments', ids: RawBuilder<unknown>) => sql`
  delete from ${sql.table(table)} where id in (
    select id from ${sql.table(table)} where project_id = any(${ids}) limit ${batch} for update skip locked)`;

export const emptyEnvironments: Emptying = {
  batches: (ids) => [emptied('deployments', ids), emptied('environments', ids)],
};
