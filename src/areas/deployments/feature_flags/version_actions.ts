/** The version of the data sent to a project's applications. Processes compare it with the version of their cache. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** Records a change of a project's flags or lists. A project without an instance id has no applications, and no version. */
export async function raiseVersion(tx: Database, project_id: number): Promise<void> {
  await sql`update feature_flag_clients set version = version + 1 where project_id = ${project_id}`.execute(tx);
}
