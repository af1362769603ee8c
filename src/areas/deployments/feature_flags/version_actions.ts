/** The version of what the applications of a project get, by which processes know that what they keep is still right. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** Says that the flags or lists of a project have changed. A project without an instance id has no applications, and no version. */
export async function raiseVersion(tx: Database, project_id: number): Promise<void> {
  await sql`update feature_flag_clients set version = version + 1 where project_id = ${project_id}`.execute(tx);
}
