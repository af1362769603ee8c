/** What other areas may use of member roles. */
export { MemberRole, memberRoleFor, memberRolesById, RoleId } from './queries.ts';
export { dropForeignRoles } from './transfer_actions.ts';
