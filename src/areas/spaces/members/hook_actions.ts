/** Hook events of members and access requests (docs/reference/hooks.md#events). */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { type Database, momentInJson, plainColumns, rowInJson } from '../../../db/index.ts';
import { DateOnly, Id, nullable, optional, resource, Timestamp } from '../../../http/index.ts';
import { groupRow } from '../../activity/hooks/index.ts';
import { hookEvent, newsOf, type Refs, tellEach } from '../../instance/hook_events/index.ts';

/** The suffixes of event names for groups and for projects. */
const names = {
  add: ['user_add_to_group', 'user_add_to_team'],
  update: ['user_update_for_group', 'user_update_for_team'],
  remove: ['user_remove_from_group', 'user_remove_from_team'],
  request: ['user_access_request_to_group', 'user_access_request_to_project'],
  revoke: ['user_access_request_revoked_for_group', 'user_access_request_revoked_for_project'],
} as const;

const levels: Record<number, string> = {
  5: 'Minimal Access',
  10: 'Guest',
  15: 'Planner',
  20: 'Reporter',
  30: 'Developer',
  40: 'Maintainer',
  50: 'Owner',
};

interface MemberNews {
  /** The names of the event for a group and for a project. */
  events: string[];
  user_id: number;
  access_level: number;
  expires_at: string | null;
  created_at: string;
  updated_at: string;
  group_id: number | null;
  /** The project that the member is in. */
  place_id: number | null;
}

export const memberEvent = hookEvent({
  name: 'member',
  summary: 'A member of a group or project, or an access request, was added, changed or removed',
  triggers: ['member_events', 'system_events'],
  snapshot: (news: Refs<MemberNews>) => ({
    events: news.events,
    access_level: news.access_level,
    expires_at: news.expires_at,
    created_at: momentInJson(news.created_at),
    updated_at: momentInJson(news.updated_at),
    user: rowInJson('users', news.user_id, plainColumns('users', ['id', 'name', 'username', 'email', 'public_email'])),
    group: groupRow(news.group_id),
    project: rowInJson(
      'projects',
      news.place_id,
      plainColumns('projects', ['id', 'name', 'path', 'full_path', 'visibility']),
    ),
  }),
  body: resource('MemberHookBody', {
    event_name: Type.Enum(Object.values(names).flat()),
    created_at: Timestamp,
    updated_at: Timestamp,
    user_id: Id,
    user_name: Type.String(),
    user_username: Type.String(),
    user_email: Type.String({ description: 'For webhooks of groups `[REDACTED]` unless the user shows it' }),
    group_id: optional(Id),
    group_name: optional(Type.String()),
    group_path: optional(Type.String()),
    group_access: optional(Type.String()),
    project_id: optional(Id),
    project_name: optional(Type.String()),
    project_path: optional(Type.String()),
    project_path_with_namespace: optional(Type.String()),
    project_visibility: optional(Type.String()),
    access_level: optional(Type.String({ description: 'In the project' })),
    expires_at: nullable(DateOnly),
  }),
}).presentedBy(({ events: [inGroup, inProject], access_level, user, group, project, ...member }, { is_system }) => ({
  ...member,
  event_name: (project ? inProject : inGroup) as (typeof names)[keyof typeof names][number],
  user_id: user.id,
  user_name: user.name,
  user_username: user.username,
  user_email: is_system ? user.email : user.public_email || '[REDACTED]',
  ...(project
    ? {
        project_id: project.id,
        project_name: project.name,
        project_path: project.path,
        project_path_with_namespace: project.full_path,
        project_visibility: project.visibility,
        access_level: levels[access_level]!,
      }
    : { ...group, group_access: levels[access_level]! }),
}));

/** @param held a select of group_id, project_id, user_id, access_level, expires_at, created_at, updated_at and the names of the event */
const tell = (tx: Database, held: RawBuilder<unknown>): Promise<void> =>
  tellEach(
    tx,
    memberEvent,
    newsOf(
      {
        project_id: sql<number | null>`null::bigint`,
        group_ids: sql<number[]>`coalesce(place.traversal_ids, '{}')`,
        events: sql<string[]>`held.events`,
        user_id: sql<number>`held.user_id`,
        access_level: sql<number>`held.access_level`,
        expires_at: sql<string | null>`held.expires_at`,
        created_at: sql<string>`held.created_at`,
        updated_at: sql<string>`held.updated_at`,
        group_id: sql<number | null>`held.group_id`,
        place_id: sql<number | null>`held.project_id`,
      },
      sql`from (${held}) held left join namespaces place on place.id = held.group_id`,
    ),
  );

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
