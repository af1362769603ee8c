/** What is read of namespaces in more than one area. */
import { type RawBuilder, sql } from 'kysely';
import { isVisibleGroup, type MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

/**
 * The names from the top-level namespace down, joined by ` / `.
 * @param namespaces the name under which the statement knows the table; not `step`, which is the name inside
 */
export const namespaceFullName = (namespaces = 'namespaces'): RawBuilder<string> => sql`
  (select string_agg(step.name, ' / ' order by array_position(${sql.ref(`${namespaces}.traversal_ids`)}, step.id))
     from namespaces step where step.id = any(${sql.ref(`${namespaces}.traversal_ids`)}))`;

const mostSuggestions = 10_000;

/**
 * The path itself when nothing stands there, otherwise the first of `path1`, `path2`, … that is free.
 * @param parent the group that it is to stand in; left out, the root
 * @returns undefined when thousands are taken
 */
export async function freePath(
  db: Database,
  path: string,
  parent: { full_path: string } | undefined,
): Promise<string | undefined> {
  const full_path = parent ? `${parent.full_path}/${path}` : path;
  const candidate = sql`(${full_path}::text || ending)::citext`;
  const { rows } = await sql<{ ending: string }>`
    select ending from generate_series(0, ${sql.lit(mostSuggestions)}) number, lateral (select coalesce(nullif(number, 0)::text, '') as ending) candidate
     where not exists (select from namespaces where full_path = ${candidate}) and not exists (select from projects where full_path = ${candidate})
     order by number limit 1`.execute(db);
  return rows[0] && `${path}${rows[0].ending}`;
}

/** A predicate on rows of `group_links`: the invitation has not ended. */
export const linkCounts = sql<boolean>`(group_links.expires_at is null or group_links.expires_at > current_date)`;

/**
 * The groups that are invited into a group or project itself, as far as the caller may know of them, in the form of `SharedWithGroup`.
 * @param target `projects` or `namespaces`, for its rows
 */
export const sharedWithGroups = (caller: MaybeCaller, target: 'projects' | 'namespaces'): RawBuilder<SharedWithGroupRow[]> => sql`
  coalesce((
    select json_agg(json_build_object(
      'group_id', invited.id, 'group_name', invited.name, 'group_full_path', invited.full_path,
      'group_access_level', group_links.access_level, 'expires_at', group_links.expires_at) order by group_links.id)
      from group_links join namespaces invited on invited.id = group_links.invited_group_id
     where ${sql.ref(`group_links.${target === 'projects' ? 'project_id' : 'group_id'}`)} = ${sql.ref(`${target}.id`)} and ${linkCounts}
       and exists (select from namespaces where namespaces.id = invited.id and ${isVisibleGroup(caller)})), '[]'::json)`;

export interface SharedWithGroupRow {
  group_id: number;
  group_name: string;
  group_full_path: string;
  group_access_level: number;
  expires_at: string | null;
}
