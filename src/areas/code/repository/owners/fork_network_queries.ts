/** Fork networks: commits can start from, and be compared with, any project in the network. */
import { sql } from 'kysely';
import {
  type MaybeCaller,
  mayDownloadCode,
  mayRead,
  mayReadCode,
  type Project,
  projectFor,
  visibleProject,
} from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { badRequest, type Caller, forbidden } from '../../../../http/index.ts';
import { namespaceFullName } from '../../../people/namespaces/index.ts';

/** Whether two projects are in the same fork network, at any distance. */
export async function isOneNetwork(db: Database, one: number, other: number): Promise<boolean> {
  // `union` removes duplicates, because forks can form a cycle.
  const { rows } = await sql<{ is_one: boolean }>`
    with recursive lines (start, id) as (
      select id, id from projects where id in (${one}, ${other})
      union
      select lines.start, projects.forked_from_id from lines join projects using (id) where projects.forked_from_id is not null)
    select exists (select from lines mine join lines theirs using (id)
                    where mine.start = ${one} and theirs.start = ${other}) as is_one`.execute(db);
  return rows[0]!.is_one;
}

/**
 * The start project of a commit to `project`.
 * @param id its id or full path
 * @throws ApiError 404 if it is hidden from the caller, 403 if it is outside the fork network or the caller may not read its code
 */
export async function startProjectFor(db: Database, caller: Caller, project: Project, id: string): Promise<Project> {
  const start = await visibleProject(db, caller, id);
  if (!(await isOneNetwork(db, project.id, start.id))) {
    const { full_name } = await db
      .selectFrom('projects')
      .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
      .select(sql<string>`${namespaceFullName()} || ' / ' || projects.name`.as('full_name'))
      .where('projects.id', '=', project.id)
      .executeTakeFirstOrThrow();
    throw forbidden(`Project is not included in the fork network for ${full_name}`);
  }
  // The commit makes the start project's code readable in the project, so the caller must be able to read it there.
  if (!mayDownloadCode(start)) throw forbidden();
  return start;
}

/**
 * The project to compare `project` with.
 * @throws ApiError 400 if it is outside the fork network or hidden from the caller, 403 if the caller may not read its code
 */
export async function comparedProjectFor(
  db: Database,
  caller: MaybeCaller,
  project: Project,
  id: number,
): Promise<Project> {
  const other = await projectFor(db, caller, String(id));
  if (!other || !mayRead(caller, other) || !(await isOneNetwork(db, project.id, other.id)))
    throw badRequest(`Target project id:${id} is not a fork of project id:${project.id}`);
  if (!mayReadCode(other)) throw forbidden("You don't have access to this fork's parent project");
  return other;
}
