/** Pushing to a fork by users who may merge its merge requests (docs/reference/merge_requests.md#collaboration). */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Access, Caller } from '../http/endpoint.ts';
import { forbidden, unauthorized } from '../http/errors.ts';
import { levels } from './levels.ts';
import {
  codeWriter,
  isMemberOfProject,
  mayDownloadCode,
  type Project,
  projectVisible,
  refuseReadOnly,
} from './projects.ts';

/**
 * Whether an open merge request of the fork allows its target's Developers to push to its source branch. When a branch moves, a second check decides whether it is
 * one of these branches and whether the caller may merge.
 */
export async function isCollaborator(
  db: Kysely<DB>,
  caller: Pick<Caller, 'id' | 'admin'>,
  fork: Pick<Project, 'id'>,
): Promise<boolean> {
  const { rows } = await sql<{ is_one: boolean }>`
    select exists (select from merge_requests join projects on projects.id = merge_requests.project_id
                    where merge_requests.source_project_id = ${fork.id} and merge_requests.project_id <> ${fork.id}
                      and merge_requests.allow_collaboration and merge_requests.state = 'opened'
                      and (${sql.lit(caller.admin)} or ${isMemberOfProject(caller as Caller, levels.developer)})) as is_one`.execute(
    db,
  );
  return rows[0]!.is_one;
}

/** A predicate: the merge request is open, and its source branch exists. */
export const hasOpenBranch = (merge_request_id: RawBuilder<unknown>): RawBuilder<SqlBool> => sql`
  exists (select from merge_requests where merge_requests.id = ${merge_request_id} and merge_requests.state = 'opened'
             and merge_requests.source_project_id is not null and not merge_requests.source_branch_gone)`;

/** The open merge requests of a branch of a fork that let others push to it, oldest first. */
export const openCollaborations = (db: Kysely<DB>, fork: Pick<Project, 'id'>, branch: string, limit: number) =>
  db
    .selectFrom('merge_requests')
    .select(['project_id', 'target_branch'])
    .where('source_project_id', '=', fork.id)
    .where('source_branch', '=', branch)
    .where('project_id', '<>', fork.id)
    .where('allow_collaboration', '=', true)
    .where('state', '=', 'opened')
    .orderBy('id')
    .limit(limit)
    .execute();

/** Grants the project in `:id` as `codeWriter` does, and to collaborators who may read its code. */
export const branchWriter: Access<{ caller: Caller; project: Project }> = {
  rule: 'project:push_code or collaborator',
  async check(call) {
    const { caller } = call;
    if (!caller) throw unauthorized();
    const { project } = await projectVisible.check(call);
    if (project.access_level >= levels.developer) return codeWriter.check(call);
    if (!mayDownloadCode(project) || !(await isCollaborator(call.db, caller, project))) throw forbidden();
    refuseReadOnly(project);
    return { caller, project };
  },
};
