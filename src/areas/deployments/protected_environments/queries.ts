/** Queries for the protections of an environment. */
import { sql } from 'kysely';
import { countsToday, isGroupOfGroup, isGroupOfProject, levels, planInForce } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import type { ProtectionRule } from './rules.ts';

/**
 * A predicate on rows of `environments`: a protection of the project or of an ancestor group applies to its name or tier. Without the plan none applies, as in `protectionsOf`.
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
  /** For a deployment: the name of the environment when the deployment was created, if known. The protections of that name apply, too. */
  made_as_name?: string | null;
  made_as_tier?: string | null;
}

/** A predicate on rows of `protected_environments`: they apply to an environment with one of these names or tiers. */
const appliesTo = (project_id: number, names: readonly string[], tiers: readonly string[]) => sql<boolean>`(
  (protected_environments.project_id = ${project_id} and protected_environments.name = any(${[...names]}::text[]))
  or (protected_environments.name = any(${[...tiers]}::text[]) and protected_environments.group_id = any(array(
        select unnest(traversal_ids) from namespaces where id = (select namespace_id from projects where id = ${project_id})))))`;

/**
 * The protections of an environment, each as its rules: the project's by name, and the ancestor groups' by tier. Without the plan they do not apply, because no one could change
 * them.
 * @param user_id the user whose group memberships are checked
 */
export async function protectionsOf(
  db: Database,
  { project_id, name, tier, made_as_name, made_as_tier }: Place,
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
                      'is_member', (case when rule.group_inheritance_type = 0 then ${isIn('members')} else ${isIn('group_authorizations')} end)
                                   and (${isGroupOfProject(sql`rule.group_id`, sql`protected_environments.project_id`)}
                                        or ${isGroupOfGroup(sql`rule.group_id`, sql`protected_environments.group_id`)}))
                      order by rule.id)
               from protected_environment_rules rule
                    left join users on users.id = rule.user_id left join namespaces on namespaces.id = rule.group_id
              where rule.protected_environment_id = protected_environments.id), '[]'::json) as rules
      from protected_environments
     where ${planInForce} <> 'free' and ${appliesTo(project_id, [name, made_as_name ?? name], [tier, made_as_tier ?? tier])}`.execute(
    db,
  );
  return rows.map(({ rules }) => rules);
}

/**
 * Whether an environment may get another name or tier: the caller must be allowed to change every protection that would start or stop applying to it.
 * @param level the caller's level in the project
 */
export async function mayRegrade(
  db: Database,
  { caller, level }: { caller: Caller; level: number },
  before: Place,
  after: Pick<Place, 'name' | 'tier'>,
): Promise<boolean> {
  const isOwner = sql`exists (
    select from group_authorizations held
     where held.user_id = ${caller.id} and held.group_id = protected_environments.group_id and held.access_level >= ${levels.owner} and ${countsToday('held')})`;
  const { rows } = await sql`
    select from protected_environments
     where ${planInForce} <> 'free'
       and (${appliesTo(before.project_id, [before.name], [before.tier])} is true) <> (${appliesTo(before.project_id, [after.name], [after.tier])} is true)
       and case when protected_environments.group_id is null then ${level < levels.maintainer} else not (${caller.admin} or ${isOwner}) end
     limit 1`.execute(db);
  return rows.length === 0;
}
