/** Which policies are in force, and what projects and groups are linked to (docs/reference/security_policies.md). */
import { type RawBuilder, sql } from 'kysely';
import { type Owner, planInForce, projectState } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Policy } from '../../../security_policies/index.ts';
import { namespaceFullName } from '../../people/namespaces/index.ts';
import { frameworkIds } from './framework_queries.ts';
import type { Reached } from './rules.ts';

/** The policy project of each row of `linked`, as `projects`, while its policies are in force for what is in the top-level group `top`. */
export const inForce = (top: RawBuilder<unknown>) => sql`
  projects join namespaces home on home.id = projects.namespace_id
     where projects.id = linked.policy_project_id and home.traversal_ids[1] = ${top}
       and not ${projectState.archived} and not ${projectState.marked_for_deletion} and ${planInForce} = 'ultimate'`;

/** The groups around the project or group of each row of `linked`, from the top. */
export const linkedGroups = sql`(select traversal_ids from namespaces where id = coalesce(linked.group_id, (select namespace_id from projects where id = linked.project_id)))`;

/**
 * A project with the policy projects that it is linked to and that have policies, null without any.
 * @param project_id an expression
 */
export const reachedProject = (project_id: RawBuilder<unknown>): RawBuilder<Reached | null> => sql`(
  select json_build_object('project_id', reached.id, 'full_path', reached.full_path, 'default_branch', reached.default_branch,
                           'group_ids', place.traversal_ids, 'framework_ids', ${frameworkIds(sql`reached.id`)},
                           'sources', json_agg(source.it order by source.id))
    from projects reached join namespaces place on place.id = reached.namespace_id
         cross join lateral (
           select policy_project_id from security_policy_links where project_id = reached.id
           union select policy_project_id from security_policy_links where group_id = any(place.traversal_ids)) linked
         join security_policy_files file on file.project_id = linked.policy_project_id and file.policies <> '[]'
         cross join lateral (
           select projects.id, json_build_object('project_id', projects.id, 'full_path', projects.full_path, 'policies', file.policies) as it
             from ${inForce(sql`place.traversal_ids[1]`)}) source
   where reached.id = ${project_id}
   group by reached.id, place.traversal_ids)`;

/** The project with what it is linked to. */
export async function reachedNow(db: Database, project_id: number): Promise<Reached | null> {
  const { rows } = await sql<{
    it: Reached | null;
  }>`select ${reachedProject(sql`${project_id}::bigint`)} as it`.execute(db);
  return rows[0]!.it;
}

/** The policies that are in force anywhere in a top-level group, and the default branches of its projects. */
export async function policiesWithin(
  db: Database,
  group_id: number,
): Promise<{ policies: Policy[]; default_branches: string[] }> {
  const { rows } = await sql<{ policies: Policy[][]; default_branches: string[] }>`
    select array(select file.policies from security_policy_files file
                  where exists (select from security_policy_links linked where linked.policy_project_id = file.project_id
                                   and ${linkedGroups} @> ${[group_id]}::bigint[] and exists (select from ${inForce(sql`${group_id}::bigint`)}))) as policies,
           array(select distinct projects.default_branch from projects join namespaces on namespaces.id = namespace_id
                  where traversal_ids @> ${[group_id]}::bigint[]) as default_branches`.execute(db);
  const { policies, default_branches } = rows[0]!;
  return { policies: policies.flat(), default_branches };
}

/** A predicate: policies may apply to a project. @param project_id an expression */
export const isReached = (project_id: RawBuilder<unknown>): RawBuilder<boolean> => sql`
  exists (select from projects reached join namespaces place on place.id = reached.namespace_id
            join security_policy_links linked on linked.project_id = reached.id or linked.group_id = any(place.traversal_ids)
           where reached.id = ${project_id})`;

/** A link, with what it leads to. */
export interface LinkRow {
  /** The group that the link is of; null if it is of the project or group that was asked for. */
  inherited_from: string | null;
  project_id: number;
  name_with_namespace: string;
  full_path: string;
  branch: string;
  policies: Reached['sources'][number]['policies'];
  errors: string[];
}

/** The ids of the place and of the groups around it, from the top, as an expression. */
const placesOf = ({ project_id, group_id }: Owner) =>
  project_id === null
    ? sql`(select traversal_ids from namespaces where id = ${group_id})`
    : sql`(select traversal_ids from projects join namespaces on namespaces.id = namespace_id where projects.id = ${project_id})`;

/** The links that a project or group has, itself or through the groups above, the nearest first. */
export async function linksOf(db: Database, owner: Owner): Promise<LinkRow[]> {
  const { rows } = await sql<LinkRow>`
    select case when linked.group_id is distinct from ${owner.group_id}::bigint
                then (select full_path from namespaces where id = linked.group_id) end as inherited_from, source.*,
           coalesce(file.policies, '[]') as policies, coalesce(file.errors, '{}') as errors
      from (select ${placesOf(owner)} as ids) place
           join security_policy_links linked on linked.project_id = ${owner.project_id} or linked.group_id = any(place.ids)
           left join security_policy_files file on file.project_id = linked.policy_project_id
           cross join lateral (select projects.id as project_id, ${namespaceFullName('home')} || ' / ' || projects.name as name_with_namespace, projects.full_path, projects.default_branch as branch
                                 from ${inForce(sql`place.ids[1]`)}) source
     order by linked.project_id is null, array_position(place.ids, linked.group_id) desc`.execute(db);
  return rows;
}
