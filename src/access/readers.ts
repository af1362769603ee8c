/** Readers: predicates on rows of `users` joined with projects or groups that tell whether the user may read an object. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { countsToday } from './expiry.ts';
import { countsInGroup } from './groups.ts';
import { isGroup, isProject } from './states.ts';

/** The user is a member of the project with at least the level. */
export const isUserOfProject = (level: number): RawBuilder<SqlBool> => sql`exists (
  select from project_authorizations where user_id = users.id and project_id = projects.id and access_level >= ${level} and ${countsToday()})`;

/** The user is a member of the group with at least the level. */
export const isUserOfGroup = (level: number): RawBuilder<SqlBool> => sql`exists (
  select from group_authorizations where user_id = users.id and group_id = namespaces.id and access_level >= ${level} and ${countsToday()})`;

/** The row is public, or internal and the user is not external. */
export const isShown = (table: 'projects' | 'namespaces' | 'snippets') => sql<SqlBool>`
  (${sql.ref(`${table}.visibility`)} = 'public' or (${sql.ref(`${table}.visibility`)} = 'internal' and not users.external))`;

/** The project is visible to the user, as `isVisibleProject` decides for a caller. */
export const isKnownProject: RawBuilder<SqlBool> = sql`
  (${isUserOfProject(1)} or (${isShown('projects')} and not ${isProject('marked_for_deletion')}))`;

/** The user is a member of the group or of anything inside it, as `belongsToGroup` decides for a caller. */
const belongsToGroup = sql<SqlBool>`exists (
  select from namespaces place where place.traversal_ids @> array[namespaces.id]
     and (place.id in (select group_id from group_authorizations where user_id = users.id and ${countsInGroup})
          or place.id in (select projects.namespace_id from project_authorizations join projects on projects.id = project_id
                           where user_id = users.id and ${countsToday()})))`;

/** The group is visible to the user, as `isVisibleGroup` decides for a caller. */
export const isKnownGroup: RawBuilder<SqlBool> = sql`
  ((${isShown('namespaces')} and not ${isGroup('marked_for_deletion')}) or ${belongsToGroup})`;
