/** To-do items for the approvers of access requests. A trigger marks them as done when their request is deleted. */
import { sql } from 'kysely';
import { countsToday, levels } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

export type RequestTarget = { project_id: number } | { group_id: number };

/** The maximum number of approvers that get an item: the most recently active ones. */
const maximumAsked = 10;

/**
 * Gives the approvers of a request a to-do item: maintainers of a project, owners of a group. Direct members come before members of ancestor
 * groups.
 * @param tx the transaction that adds the request
 * @param request its id and the requester
 */
export async function addRequestTodos(
  tx: Database,
  place: RequestTarget,
  request: { id: number; user_id: number },
): Promise<void> {
  const isProject = 'project_id' in place;
  const [project_id, group_id] = isProject ? [place.project_id, null] : [null, place.group_id];
  const isHere = isProject ? sql`project_id = ${project_id}` : sql`group_id = ${group_id}`;
  const authorizations = sql.table(isProject ? 'project_authorizations' : 'group_authorizations');
  await sql`
    insert into todos (user_id, author_id, action_name, project_id, group_id, access_request_id)
    select users.id, ${request.user_id}, 'member_access_requested', ${project_id}, ${group_id}, ${request.id}
      from users
     where user_type = 'human' and state = 'active' and users.id in (
             select user_id from ${authorizations} where ${isHere} and access_level >= ${isProject ? levels.maintainer : levels.owner}
                and ${countsToday()})
     order by exists (select from members where ${isHere} and user_id = users.id) desc, last_activity_on desc nulls last, users.id
     limit ${sql.lit(maximumAsked)}`.execute(tx);
}
