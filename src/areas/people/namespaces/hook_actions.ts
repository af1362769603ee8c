/** Hook events of groups and projects (docs/reference/hooks.md#events). */
import { type RawBuilder, sql } from 'kysely';
import { type Database, momentInJson } from '../../../db/index.ts';
import { tellEach } from '../../instance/hook_events/index.ts';

const times = sql`'created_at', ${momentInJson('news.created_at')}, 'updated_at', ${momentInJson('news.updated_at')}`;

/** The owners of the projects: those of the group, or the user of the namespace. */
const owners = sql`
  (select coalesce(json_agg(json_build_object('name', users.name, 'email', users.email) order by users.id), '[]') from users
    where users.id = news.owner_id
       or users.id in (select user_id from members where group_id = news.namespace_id and access_level = 50))`;

type ProjectEvent = 'project_create' | 'project_destroy' | 'project_rename' | 'project_transfer' | 'project_update';

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
  const trigger = event === 'project_create' || event === 'project_destroy' ? 'project_events' : null;
  await tellEach(tx, {
    trigger,
    to_system: true,
    rows: sql`
      select null::bigint as project_id, namespaces.traversal_ids as group_ids, projects.id, projects.name, projects.path, projects.full_path,
             projects.visibility, projects.namespace_id, projects.created_at, projects.updated_at, namespaces.owner_id
        from projects join namespaces on namespaces.id = projects.namespace_id where ${which}`,
    facts: sql`json_build_object(
      'event_name', ${sql.lit(event)}, ${times}, 'name', news.name, 'path', news.path, 'path_with_namespace', news.full_path, 'project_id', news.id,
      'project_namespace_id', news.namespace_id, 'project_visibility', news.visibility, 'owners', ${owners}, 'owner_name', ${owners} #>> '{0,name}',
      'owner_email', ${owners} #>> '{0,email}' ${old_full_path === undefined ? sql`` : sql`, 'old_path_with_namespace', ${old_full_path}::text`})`,
  });
}

/**
 * Enqueues hook events of groups: for system hooks, and for hooks of ancestor groups when subgroups are created or
 * deleted.
 * @param tx the transaction of the change; for a deleted group, before the deletion
 * @param old the former path of the group
 */
export async function tellOfGroup(
  tx: Database,
  event: 'create' | 'destroy' | 'rename',
  group_id: number,
  old?: { path: string; full_path: string },
): Promise<void> {
  const name = sql`case when news.is_system then ${`group_${event}`}::text else ${`subgroup_${event}`}::text end`;
  await tellEach(tx, {
    trigger: event === 'rename' ? null : 'subgroup_events',
    to_system: true,
    rows: sql`
      select null::bigint as project_id, coalesce(above.traversal_ids, '{}') as group_ids, own.id, own.name, own.path, own.full_path, own.created_at,
             own.updated_at, above.id as parent_id, above.name as parent_name, above.path as parent_path, above.full_path as parent_full_path
        from namespaces own left join namespaces above on above.id = own.parent_id where own.id = ${group_id}`,
    facts: sql`json_build_object(
      'event_name', ${name}, ${times}, 'name', news.name, 'path', news.path, 'full_path', news.full_path, 'group_id', news.id,
      'parent_group_id', news.parent_id, 'parent_name', news.parent_name, 'parent_path', news.parent_path, 'parent_full_path', news.parent_full_path
      ${old === undefined ? sql`` : sql`, 'old_path', ${old.path}::text, 'old_full_path', ${old.full_path}::text`})`,
  });
}
