/** The processes of a site (docs/operating.md#more-than-one-machine). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { lifetime_s } from './rules.ts';

const isRunning = sql<boolean>`seen_at > now() - make_interval(secs => ${sql.lit(lifetime_s)})`;

/** All processes, by name. */
export const nodes = (db: Database) =>
  db
    .selectFrom('nodes')
    .select(['name', 'host', 'process_id', 'version', 'url', 'roles', 'started_at', 'seen_at'])
    .select(isRunning.as('running'))
    .orderBy('name');
