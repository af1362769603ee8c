/** Which jobs get into which projects with their tokens (docs/reference/job_tokens.md#other-projects). */
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { JobReach } from '../http/endpoint.ts';

/**
 * Whether a project lets the jobs of another one in with the rights of their users.
 * @param id of the project
 * @param from the project of the jobs
 */
export async function letsJobsIn(db: Kysely<DB>, id: number, from: number): Promise<boolean> {
  const { rows } = await sql`
    select from projects
     where id = ${id}
       and (not ci_inbound_job_token_scope_enabled
            or exists (select from job_token_projects where project_id = ${id} and allowed_id = ${from})
            or exists (select from job_token_groups
                        where project_id = ${id}
                          and group_id = any((select traversal_ids from namespaces where namespaces.id = (select namespace_id from projects sender where sender.id = ${from}))::bigint[])))`.execute(
    db,
  );
  return rows.length > 0;
}

/** Whether a job may push to a project: to its own, if that lets it. */
export async function mayJobPush(db: Kysely<DB>, job: JobReach, project_id: number): Promise<boolean> {
  if (job.project_id !== project_id) return false;
  const query = db
    .selectFrom('projects')
    .select('ci_push_repository_for_job_token_allowed')
    .where('id', '=', project_id);
  return (await query.executeTakeFirst())?.ci_push_repository_for_job_token_allowed ?? false;
}
