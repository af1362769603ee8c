/**
 * Permissions of custom roles (docs/reference/member_roles.md): each with the role that has it anyway.
 * Custom roles come with memberships and only apply under the plan that has them.
 */
import { type RawBuilder, sql } from 'kysely';
import { levels, type Role } from './levels.ts';
import { planInForce } from './plans.ts';

interface Declaration {
  /** The role that has it anyway. */
  from: Role;
  /** The same in groups, if it differs there. */
  in_groups?: Role;
}

const declared = {
  admin_cicd_variables: { from: 'maintainer', in_groups: 'owner' },
  admin_compliance_framework: { from: 'owner' },
  admin_group_member: { from: 'owner' },
  admin_merge_request: { from: 'developer' },
  admin_push_rules: { from: 'maintainer', in_groups: 'owner' },
  admin_terraform_state: { from: 'maintainer' },
  admin_vulnerability: { from: 'maintainer' },
  admin_web_hook: { from: 'maintainer', in_groups: 'owner' },
  archive_project: { from: 'owner' },
  manage_deploy_tokens: { from: 'maintainer', in_groups: 'owner' },
  manage_group_access_tokens: { from: 'owner' },
  manage_merge_request_settings: { from: 'maintainer' },
  manage_project_access_tokens: { from: 'maintainer' },
  manage_security_policy_link: { from: 'owner' },
  read_code: { from: 'reporter' },
  read_runners: { from: 'maintainer', in_groups: 'owner' },
  read_dependency: { from: 'reporter' },
  read_vulnerability: { from: 'developer' },
  remove_group: { from: 'owner' },
  remove_project: { from: 'owner' },
} as const satisfies Record<string, Declaration>;

export type Permission = keyof typeof declared;

/** All permissions, named like the columns of `member_roles`. */
export const permissions = Object.keys(declared) as readonly Permission[];

/** A user's access level in a project or group, and the permissions that custom roles add to it. */
export interface Eligibility {
  access_level: number;
  permissions: readonly Permission[];
}

/** The access level that has a permission without a custom role. */
function levelWith(permission: Permission, kind: 'project' | 'group'): number {
  const { from, in_groups = from }: Declaration = declared[permission];
  return levels[kind === 'group' ? in_groups : from];
}

/** Whether a user has a permission in a project or group, by their access level or by a custom role. */
export const holds = (who: Eligibility, permission: Permission, kind: 'project' | 'group'): boolean =>
  who.permissions.includes(permission) || who.access_level >= levelWith(permission, kind);

/** Whether custom roles apply: only under the plan that has them. */
export const rolesCount = sql<boolean>`${planInForce} = 'ultimate'`;

/**
 * The permissions of several custom roles together. Without roles nothing is looked up.
 * @param roles a column with the IDs of roles, or null
 */
export const permissionsOfRoles = (roles: RawBuilder<unknown>): RawBuilder<Permission[]> => sql<Permission[]>`
  case when ${roles} is null or not ${rolesCount} then '{}'::text[] else
    array(select distinct unnest(member_roles.permissions) from member_roles where member_roles.id = any(${roles})) end`;

/** The access level and custom roles of several authorizations together: `access_level`, `roles` (null without any). */
export const heldTogether = sql`
  coalesce(max(access_level), 0) as access_level, array_agg(member_role_id) filter (where member_role_id is not null) as roles`;

export interface RoleOptions {
  /** A permission that admits its holders, like the access level. */
  permission?: Permission;
}

/** The name of a rule that requires a role or a permission. */
export const ruleOf = (rule: string, permission: Permission | undefined): string =>
  permission === undefined ? rule : `${rule} or ${permission}`;

/** Whether a user who can see a project or group may act as `role` there, by their access level or by a permission; every such user may as a guest. */
export const mayAct = (
  { access_level, permissions: held }: Eligibility,
  role: Role,
  permission: Permission | undefined,
): boolean =>
  role === 'guest' || access_level >= levels[role] || (permission !== undefined && held.includes(permission));
