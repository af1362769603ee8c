/** What other areas may use of member roles. */
export { MemberRole, memberRoleFor, memberRolesById, type UsableRole } from './queries.ts';
export { dropForeignRoles } from './transfers.ts';
