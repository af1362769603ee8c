/** Queries for namespaces that several areas use. */
import { type RawBuilder, sql } from 'kysely';
import { countsToday, isVisibleGroup, type MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { containing } from '../../../http/index.ts';

/**
 * The names from the top-level namespace down, joined by ` / `.
 * @param namespaces the alias of the table in the statement; not `step`, which is used inside
 */
export const namespaceFullName = (namespaces = 'namespaces'): RawBuilder<string> => sql`
  (select string_agg(step.name, ' / ' order by array_position(${sql.ref(`${namespaces}.traversal_ids`)}, step.id))
     from namespaces step where step.id = any(${sql.ref(`${namespaces}.traversal_ids`)}))`;

/**
 * The end of the path of an avatar: a group's own, or that of the user whose namespace it is; null without one.
 * @param namespaces the alias of the table in the statement
 */
export const namespaceAvatar = (namespaces = 'namespaces'): RawBuilder<string | null> => sql`
  case when ${sql.ref(`${namespaces}.kind`)} = 'group'
       then 'group/avatar/' || ${sql.ref(`${namespaces}.id`)} || '/' || ${sql.ref(`${namespaces}.avatar`)}
       else (select 'user/avatar/' || holder.id || '/' || holder.avatar from users holder where holder.id = ${sql.ref(`${namespaces}.owner_id`)}) end`;

/**
 * Groups in the columns of `presentPublicGroup`.
 * @param search part of the name or full path; if omitted, all groups
 */
export const publicGroups = (db: Database, search?: string) =>
  db
    .selectFrom('namespaces')
    .select(['id', 'name', 'avatar', 'full_path', namespaceFullName().as('full_name')])
    .where('kind', '=', 'group')
    .$if(Boolean(search), (query) => {
      const pattern = containing(search!);
      return query.where(sql<boolean>`(name ilike ${pattern} or full_path::text ilike ${pattern})`);
    });

const maximumSuggestions = 10_000;

/**
 * The given path if no namespace, project or user has it, otherwise the first free one of `path1`, `path2`, …
 * @param parent the parent group; if omitted, the top level
 * @returns undefined when all suggestions are taken
 */
export async function freePath(
  db: Database,
  path: string,
  parent: { full_path: string } | undefined,
): Promise<string | undefined> {
  const full_path = parent ? `${parent.full_path}/${path}` : path;
  const candidate = sql`(${full_path}::text || ending)::citext`;
  const { rows } = await sql<{ ending: string }>`
    select ending from generate_series(0, ${sql.lit(maximumSuggestions)}) number, lateral (select coalesce(nullif(number, 0)::text, '') as ending) candidate
     where not exists (select from namespaces where full_path = ${candidate}) and not exists (select from projects where full_path = ${candidate})
       and not exists (select from users where username = ${candidate})
     order by number limit 1`.execute(db);
  return rows[0] && `${path}${rows[0].ending}`;
}

/**
 * The groups that a group or project is shared with and that are visible to the caller, in the form of `SharedWithGroup`.
 * @param target the table of the rows, `projects` or `namespaces`
 */
export const sharedWithGroups = (
  caller: MaybeCaller,
  target: 'projects' | 'namespaces',
): RawBuilder<SharedWithGroupRow[]> => sql`
  coalesce((
    select json_agg(json_build_object(
      'group_id', invited.id, 'group_name', invited.name, 'group_full_path', invited.full_path,
      'group_access_level', group_links.access_level, 'expires_at', group_links.expires_at) order by group_links.id)
      from group_links join namespaces invited on invited.id = group_links.invited_group_id
     where ${sql.ref(`group_links.${target === 'projects' ? 'project_id' : 'group_id'}`)} = ${sql.ref(`${target}.id`)} and ${countsToday('group_links')}
       and exists (select from namespaces where namespaces.id = invited.id and ${isVisibleGroup(caller)})), '[]'::json)`;

export interface SharedWithGroupRow {
  group_id: number;
  group_name: string;
  group_full_path: string;
  group_access_level: number;
  expires_at: string | null;
}
