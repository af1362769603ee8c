/** Determines who can be assigned to issues. */
import { sql } from 'kysely';
import { countsToday, isUsableAccount, levels, type Project } from '../../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../../db/index.ts';

/**
 * The given users who may read the issues of a project, in the same order. Other users cannot be assigned.
 * @param ids ids of users, some of which may not exist
 */
export async function assignableUsers(db: Database, project: Project, ids: readonly number[]): Promise<number[]> {
  const wanted = [...new Set(ids)].filter((id) => id > 0);
  if (wanted.length === 0) return [];
  const isOpen = project.visibility !== 'private' && project.issues_access_level === 'enabled';
  const isShown = isOpen ? sql`(not users.external or ${project.visibility === 'public'})` : sql`false`;
  const { rows } = await sql<{ id: number }>`
    select users.id from users
     where users.id = any(${ofAnyLength(wanted, 'bigint[]')}) and users.state = 'active' and ${isUsableAccount}
       and (${isShown} or users.admin or exists (
             select from project_authorizations where user_id = users.id and project_id = ${project.id} and access_level >= ${levels.guest}
                and ${countsToday()}))`.execute(db);
  const known = new Set(rows.map(({ id }) => id));
  return wanted.filter((id) => known.has(id));
}
