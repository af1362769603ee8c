/** What is wrong with policies that only the database knows: whom and what they name (docs/reference/security_policies.md#errors). */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import type { Policy } from '../../../security_policies/index.ts';

/** The most names that an error tells. */
const maximumTold = 20;

interface Unknown {
  usernames: string[];
  user_ids: number[];
  group_paths: string[];
  group_ids: number[];
  role_ids: number[];
  project_ids: number[];
  scope_group_ids: number[];
  framework_ids: number[];
}

const sentences: Readonly<Record<keyof Unknown, string>> = {
  usernames: 'names users who do not exist',
  user_ids: 'names users who do not exist',
  group_paths: 'names groups that are not in the top-level group',
  group_ids: 'names groups that are not in the top-level group',
  role_ids: 'names member roles that do not exist',
  project_ids: 'is about projects that are not in the top-level group',
  scope_group_ids: 'is about groups that are not in the top-level group',
  framework_ids: 'is about compliance frameworks that the top-level group does not have',
};

/** All that a policy names, by the table where it should be. */
function namedBy({ demands, scope }: Policy): Unknown {
  const roles = demands.flatMap(({ role_approvers }) => role_approvers);
  return {
    usernames: demands.flatMap(({ user_approvers }) => user_approvers),
    user_ids: demands.flatMap(({ user_approvers_ids }) => user_approvers_ids),
    group_paths: demands.flatMap(({ group_approvers }) => group_approvers),
    group_ids: demands.flatMap(({ group_approvers_ids }) => group_approvers_ids),
    role_ids: roles.filter((role) => typeof role === 'number'),
    project_ids: [...(scope.projects?.including ?? []), ...(scope.projects?.excluding ?? [])],
    scope_group_ids: [...(scope.groups?.including ?? []), ...(scope.groups?.excluding ?? [])],
    framework_ids: [...(scope.compliance_frameworks ?? [])],
  };
}

/**
 * The errors of policies that name what does not exist or is not in the top-level group of their project. The words are the same for both, since what is elsewhere may be hidden.
 * @param project_id the policy project
 */
export async function unknownNames(db: Database, project_id: number, policies: readonly Policy[]): Promise<string[]> {
  const errors: string[] = [];
  for (const policy of policies) {
    const named = namedBy(policy);
    if (Object.values(named).every((each) => each.length === 0)) continue;
    const { rows } = await sql<Unknown>`
      with top as (select traversal_ids[1] as id from projects join namespaces on namespaces.id = namespace_id where projects.id = ${project_id})
      select array(select given::text from unnest(${ofAnyLength(named.usernames, 'citext[]')}) given
                    where not exists (select from users where username = given)) as usernames,
             array(select given from unnest(${ofAnyLength(named.user_ids, 'bigint[]')}) given
                    where not exists (select from users where id = given)) as user_ids,
             array(select given::text from unnest(${ofAnyLength(named.group_paths, 'citext[]')}) given
                    where not exists (select from namespaces, top where full_path = given and kind = 'group' and traversal_ids[1] = top.id)) as group_paths,
             array(select given from unnest(${ofAnyLength(named.group_ids, 'bigint[]')}) given
                    where not exists (select from namespaces, top where namespaces.id = given and kind = 'group' and traversal_ids[1] = top.id)) as group_ids,
             array(select given from unnest(${ofAnyLength(named.role_ids, 'bigint[]')}) given
                    where not exists (select from member_roles, top where member_roles.id = given and coalesce(group_id, top.id) = top.id)) as role_ids,
             array(select given from unnest(${ofAnyLength(named.project_ids, 'bigint[]')}) given
                    where not exists (select from projects join namespaces on namespaces.id = namespace_id, top
                                       where projects.id = given and traversal_ids[1] = top.id)) as project_ids,
             array(select given from unnest(${ofAnyLength(named.scope_group_ids, 'bigint[]')}) given
                    where not exists (select from namespaces, top where namespaces.id = given and kind = 'group' and traversal_ids[1] = top.id)) as scope_group_ids,
             array(select given from unnest(${ofAnyLength(named.framework_ids, 'bigint[]')}) given
                    where not exists (select from compliance_frameworks, top where compliance_frameworks.id = given and group_id = top.id)) as framework_ids`.execute(
      db,
    );
    for (const [kind, unknown] of Object.entries(rows[0]!) as [keyof Unknown, (string | number)[]][])
      if (unknown.length > 0)
        errors.push(`The policy '${policy.name}' ${sentences[kind]}: ${unknown.slice(0, maximumTold).join(', ')}`);
  }
  return errors;
}
