/** Queries for configurations of pipelines. */
import type { Database } from '../../../db/index.ts';

/** The attribute `ci_config_path` of a project. */
export const configPathOf = async (db: Database, project_id: number): Promise<string | null> =>
  (await db.selectFrom('projects').select('ci_config_path').where('id', '=', project_id).executeTakeFirstOrThrow())
    .ci_config_path;
