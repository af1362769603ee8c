/** The compliance frameworks of projects, by which scopes choose. */
import { type RawBuilder, sql } from 'kysely';

/** The ids of the frameworks of the project in an expression. */
export const frameworkIds = (project_id: RawBuilder<unknown>): RawBuilder<number[]> => sql`
  array(select held.framework_id from project_compliance_frameworks held where held.project_id = ${project_id})`;
