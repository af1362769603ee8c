/** Reading push rules. */
import type { Owner } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ruleNames } from './rules.ts';

/** The rule of a project or group. */
export const rulesOf = (db: Database, { project_id, group_id }: Owner) =>
  db
    .selectFrom('push_rules')
    .select(['id', 'created_at', ...ruleNames])
    .where(project_id === null ? 'group_id' : 'project_id', '=', project_id ?? group_id);
