/** Reading the protections that an environment has. */
import { sql } from 'kysely';
import { countsToday, levels, planInForce } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { ProtectionRule } from './rules.ts';

/**
 * A predicate on rows of `environments`: one of the project or of a group above is protected by its name or tier. As in `protectionsOf`, none is without
 * the plan for it.
 */
export const isProtected = sql<boolean>`(${planInForce} <> 'free' and exists (
  select from protected_environments protection
   where (protection.project_id = environments.project_id and protection.name = environments.name)
      or (protection.name = environments.tier and protection.group_id = any(array(
            select unnest(traversal_ids) from namespaces
             where id = (select namespace_id from projects where projects.id = environments.project_id))))))`;

/** An environment, whether or not it exists. */
export interface Place {
  project_id: number;
  name: string;
  tier: string;
}

/**
 * The protections of an environment, each as its rules: the one of its project by its name, and those of the groups above by its tier. Without the plan for them they
 * do not apply, because no one could change them.
 * @param user_id whose memberships in groups are looked at
 */
export async function protectionsOf(
  db: Database,
  { project_id, name, tier }: Place,
  user_id: number | null,
): Promise<ProtectionRule[][]> {
  const isIn = (table: 'members' | 'group_authorizations') => sql`exists (
    select from ${sql.table(table)} held
     where held.user_id = ${user_id}::bigint and held.group_id = rule.group_id and held.access_level >= ${levels.guest} and ${countsToday('held')})`;
  const { rows } = await sql<{ rules: ProtectionRule[] }>`
    select coalesce((
             select json_agg(json_build_object(
                      'id', rule.id, 'purpose', rule.purpose, 'access_level', rule.access_level, 'user_id', rule.user_id, 'group_id', rule.group_id,
                      'required_approvals', rule.required_approvals, 'name', coalesce(users.name, namespaces.name),
                      'is_inherited', protected_environments.group_id is not null,
                      'is_member', case when rule.group_inheritance_type = 0 then ${isIn('members')} else ${isIn('group_authorizations')} end)
                      order by rule.id)
               from protected_environment_rules rule
                    left join users on users.id = rule.user_id left join namespaces on namespaces.id = rule.group_id
              where rule.protected_environment_id = protected_environments.id), '[]'::json) as rules
      from protected_environments
     where ${planInForce} <> 'free'
       and ((protected_environments.project_id = ${project_id} and protected_environments.name = ${name})
         or (protected_environments.name = ${tier} and protected_environments.group_id = any(array(
               select unnest(traversal_ids) from namespaces where id = (select namespace_id from projects where id = ${project_id})))))`.execute(
    db,
  );
  return rows.map(({ rules }) => rules);
}
