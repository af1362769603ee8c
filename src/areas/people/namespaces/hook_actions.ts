/** Hook events of groups and projects (docs/reference/hooks.md#events). */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { type Database, momentInJson, plainColumns, rowInJson, rowsInJson } from '../../../db/index.ts';
import { Id, nullable, optional, resource, Timestamp, Visibility } from '../../../http/index.ts';
import { hookEvent, newsOf, type Refs, tellEach } from '../../instance/hook_events/index.ts';

const projectEvents = [
  'project_create',
  'project_destroy',
  'project_rename',
  'project_transfer',
  'project_update',
] as const;
type ProjectEvent = (typeof projectEvents)[number];

interface ProjectNews {
  id: number;
  event: ProjectEvent;
  old_full_path: string | null;
  namespace_id: number;
  /** The user of a personal namespace. */
  owner_id: number | null;
}

export const projectEvent = hookEvent({
  name: 'project',
  summary: 'A project was created, updated, renamed, transferred or deleted',
  triggers: ['project_events', 'system_events'],
  snapshot: (news: Refs<ProjectNews>) => ({
    event: news.event,
    old_full_path: news.old_full_path,
    project: rowInJson('projects', news.id, {
      ...plainColumns('projects', ['id', 'name', 'path', 'full_path', 'visibility', 'namespace_id']),
      created_at: momentInJson('projects.created_at'),
      updated_at: momentInJson('projects.updated_at'),
    }),
    // Those of the group, or the user of the namespace.
    owners: rowsInJson(
      plainColumns('users', ['name', 'email']),
      sql`
        from users where users.id = ${news.owner_id}
          or users.id in (select user_id from members where group_id = ${news.namespace_id} and access_level = 50)`,
      sql`users.id`,
    ),
  }),
  body: resource('ProjectHookBody', {
    event_name: Type.Enum(projectEvents),
    created_at: Timestamp,
    updated_at: Timestamp,
    name: Type.String(),
    path: Type.String(),
    path_with_namespace: Type.String(),
    project_id: Id,
    project_namespace_id: Id,
    project_visibility: Visibility,
    owners: Type.Array(Type.Object({ name: Type.String(), email: Type.String() })),
    owner_name: nullable(Type.String()),
    owner_email: nullable(Type.String()),
    old_path_with_namespace: optional(Type.String({ description: 'Of `project_rename` and `project_transfer`' })),
  }),
}).presentedBy(({ event, old_full_path, project, owners }) => ({
  ...project,
  event_name: event,
  path_with_namespace: project.full_path,
  project_id: project.id,
  project_namespace_id: project.namespace_id,
  project_visibility: project.visibility as 'private' | 'internal' | 'public',
  owners,
  owner_name: owners[0]?.name ?? null,
  owner_email: owners[0]?.email ?? null,
  ...(old_full_path === null ? {} : { old_path_with_namespace: old_full_path }),
}));

/**
 * Enqueues hook events of projects: for system hooks, and for hooks of groups when projects are created or deleted.
 * @param tx the transaction of the change; for deleted projects, before the deletion
 * @param which a predicate on rows of `projects`
 * @param old_full_path the former path of a project that has moved
 */
export async function tellOfProjects(
  tx: Database,
  event: ProjectEvent,
  which: RawBuilder<unknown>,
  old_full_path?: string,
): Promise<void> {
  const rows = newsOf(
    {
      project_id: sql<number | null>`null::bigint`,
      group_ids: sql<number[]>`namespaces.traversal_ids`,
      ...plainColumns('projects', ['id', 'namespace_id']),
      event: sql<ProjectEvent>`${event}::text`,
      old_full_path: sql<string | null>`${old_full_path ?? null}::text`,
      ...plainColumns('namespaces', ['owner_id']),
    },
    sql`from projects join namespaces on namespaces.id = projects.namespace_id where ${which}`,
  );
  const isForGroups = event === 'project_create' || event === 'project_destroy';
  await tellEach(tx, isForGroups ? projectEvent : { ...projectEvent, triggers: ['system_events'] }, rows);
}

type GroupEvent = 'create' | 'destroy' | 'rename';

interface GroupNews {
  id: number;
  parent_id: number | null;
  event: GroupEvent;
  old: { path: string; full_path: string } | null;
}

export const groupEvent = hookEvent({
  name: 'group',
  summary: 'A group was created, renamed or deleted; for webhooks of a group, a subgroup was created or deleted',
  triggers: ['subgroup_events', 'system_events'],
  snapshot: (news: Refs<GroupNews>) => ({
    event: news.event,
    old: news.old,
    group: rowInJson('namespaces', news.id, {
      ...plainColumns('namespaces', ['id', 'name', 'path', 'full_path']),
      created_at: momentInJson('namespaces.created_at'),
      updated_at: momentInJson('namespaces.updated_at'),
    }),
    parent: rowInJson('namespaces', news.parent_id, plainColumns('namespaces', ['id', 'name', 'path', 'full_path'])),
  }),
  body: resource('GroupHookBody', {
    event_name: Type.Enum(['group_create', 'group_destroy', 'group_rename', 'subgroup_create', 'subgroup_destroy']),
    created_at: Timestamp,
    updated_at: Timestamp,
    name: Type.String(),
    path: Type.String(),
    full_path: Type.String(),
    group_id: Id,
    parent_group_id: nullable(Id),
    parent_name: nullable(Type.String()),
    parent_path: nullable(Type.String()),
    parent_full_path: nullable(Type.String()),
    old_path: optional(Type.String({ description: 'Of `group_rename`' })),
    old_full_path: optional(Type.String({ description: 'Of `group_rename`' })),
  }),
}).presentedBy(({ event, old, group, parent }, { is_system }) => ({
  ...group,
  event_name: is_system || event === 'rename' ? `group_${event}` : `subgroup_${event}`,
  group_id: group.id,
  parent_group_id: parent?.id ?? null,
  parent_name: parent?.name ?? null,
  parent_path: parent?.path ?? null,
  parent_full_path: parent?.full_path ?? null,
  ...(old && { old_path: old.path, old_full_path: old.full_path }),
}));

/**
 * Enqueues hook events of groups: for system hooks, and for hooks of ancestor groups when subgroups are created or
 * deleted.
 * @param tx the transaction of the change; for a deleted group, before the deletion
 * @param old the former path of the group
 */
export async function tellOfGroup(
  tx: Database,
  event: GroupEvent,
  group_id: number,
  old?: { path: string; full_path: string },
): Promise<void> {
  const rows = newsOf(
    {
      project_id: sql<number | null>`null::bigint`,
      group_ids: sql<number[]>`coalesce(above.traversal_ids, '{}')`,
      id: sql<number>`own.id`,
      parent_id: sql<number | null>`above.id`,
      event: sql<GroupEvent>`${event}::text`,
      old: sql<GroupNews['old']>`${old ? JSON.stringify(old) : null}::json`,
    },
    sql`from namespaces own left join namespaces above on above.id = own.parent_id where own.id = ${group_id}`,
  );
  await tellEach(tx, event === 'rename' ? { ...groupEvent, triggers: ['system_events'] } : groupEvent, rows);
}
