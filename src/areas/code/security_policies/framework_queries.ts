/** The compliance frameworks of projects, by which scopes choose. */
import { type RawBuilder, sql } from 'kysely';

/** The ids of the frameworks of the project in an expression. */
export const frameworkIds = (_project_id: RawBuilder<unknown>): RawBuilder<number[]> => sql`'{}'::bigint[]`;
