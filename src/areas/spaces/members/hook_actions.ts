/** Hook events of members and access requests (docs/reference/hooks.md#events). */
import { type RawBuilder, sql } from 'kysely';
import { type Database, momentInJson } from '../../../db/index.ts';
import { tellEach } from '../../instance/hook_events/index.ts';

/** The suffixes of event names for groups and for projects. */
const names = {
  add: ['user_add_to_group', 'user_add_to_team'],
  update: ['user_update_for_group', 'user_update_for_team'],
  remove: ['user_remove_from_group', 'user_remove_from_team'],
  request: ['user_access_request_to_group', 'user_access_request_to_project'],
  revoke: ['user_access_request_revoked_for_group', 'user_access_request_revoked_for_project'],
} as const;

const level = sql`
  case news.access_level when 5 then 'Minimal Access' when 10 then 'Guest' when 15 then 'Planner' when 20 then 'Reporter' when 30 then 'Developer'
                         when 40 then 'Maintainer' when 50 then 'Owner' end`;

const shared = sql`
  'created_at', ${momentInJson('news.created_at')}, 'updated_at', ${momentInJson('news.updated_at')}, 'user_id', news.user_id,
  'user_name', news.user_name, 'user_username', news.username, 'user_email', case when news.is_system then news.email else coalesce(nullif(news.public_email, ''), '[REDACTED]') end`;

const facts = sql`
  case when news.project is null then json_build_object(
         'event_name', news.events[1], ${shared}, 'group_id', news.group_id, 'group_name', news.group_name, 'group_path', news.group_path,
         'group_access', ${level}, 'expires_at', news.expires_at)
       else json_build_object(
         'event_name', news.events[2], ${shared}, 'project_id', news.project, 'project_name', news.project_name, 'project_path', news.project_path,
         'project_path_with_namespace', news.project_full_path, 'project_visibility', news.project_visibility, 'access_level', ${level},
         'expires_at', news.expires_at) end`;

/** @param held a select of group_id, project_id, user_id, access_level, expires_at, created_at, updated_at and the names of the event */
const tell = (tx: Database, held: RawBuilder<unknown>): Promise<void> =>
  tellEach(tx, {
    trigger: 'member_events',
    to_system: true,
    rows: sql`
      select null::bigint as project_id, coalesce(place.traversal_ids, '{}') as group_ids, held.events, held.user_id, held.access_level, held.expires_at,
             held.created_at, held.updated_at, users.name as user_name, users.username, users.email, users.public_email, place.id as group_id,
             place.name as group_name, place.path as group_path, projects.id as project, projects.name as project_name, projects.path as project_path,
             projects.full_path as project_full_path, projects.visibility as project_visibility
        from (${held}) held join users on users.id = held.user_id
        left join namespaces place on place.id = held.group_id left join projects on projects.id = held.project_id`,
    facts,
  });

const eventsOf = (event: keyof typeof names) => sql`array[${sql.join(names[event].map((name) => sql.lit(name)))}]`;

/**
 * Enqueues hook events of members. Hooks of the server receive all of them, and hooks of a group those of members of
 * the group and its subgroups.
 * @param tx the transaction of the change; for removed members, before they are deleted
 * @param event `written` for members who were added or updated
 * @param which a predicate on rows of `members`
 */
export function tellOfMembers(
  tx: Database,
  event: 'written' | 'update' | 'remove',
  which: RawBuilder<unknown>,
): Promise<void> {
  const events =
    event === 'written'
      ? sql`case when created_at = now() then ${eventsOf('add')} else ${eventsOf('update')} end`
      : eventsOf(event);
  return tell(
    tx,
    sql`
    select group_id, project_id, user_id, access_level, expires_at, created_at, updated_at, ${events} as events from members where ${which}`,
  );
}

/**
 * The same for access requests.
 * @param which a predicate on rows of `access_requests`
 */
export const tellOfRequests = (tx: Database, event: 'request' | 'revoke', which: RawBuilder<unknown>): Promise<void> =>
  tell(
    tx,
    sql`
    select group_id, project_id, user_id, 30 as access_level, null::date as expires_at, requested_at as created_at, requested_at as updated_at, ${eventsOf(event)} as events
      from access_requests where ${which}`,
  );
