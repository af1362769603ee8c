/** Roles as they are read, and which of them can be given where. */
import { sql } from 'kysely';
import { type Static, type TBoolean, Type } from 'typebox';
import { type Permission, permissions } from '../../../access/index.ts';
import { columnsOf, type Database } from '../../../db/index.ts';
import { Id, invalid, nullable, resource } from '../../../http/index.ts';

const flags = Object.fromEntries(permissions.map((name) => [name, Type.Boolean()])) as Record<Permission, TBoolean>;

/** A role (specification part 1, section 2.1). */
export const MemberRole = resource('MemberRole', {
  id: Id,
  name: Type.String(),
  description: nullable(Type.String()),
  group_id: nullable(Id),
  base_access_level: Type.Integer(),
  ...flags,
});
export type MemberRoleRow = Static<typeof MemberRole>;

export const memberRoleColumns = columnsOf(MemberRole);

/** Whose a role is: of a top-level group, or where there is none, of the instance. `is not distinct from` would say both, but uses no index. */
export const belongsTo = (group_id: number | null) =>
  group_id === null ? sql<boolean>`member_roles.group_id is null` : sql<boolean>`member_roles.group_id = ${group_id}`;

/** Roles by their ids, as replies show them. */
export async function memberRolesById(db: Database, ids: readonly number[]): Promise<Map<number, MemberRoleRow>> {
  if (ids.length === 0) return new Map();
  const query = db.selectFrom('member_roles').select(memberRoleColumns);
  const rows = await query.where('id', 'in', [...new Set(ids)]).execute();
  return new Map(rows.map((role) => [role.id, role]));
}

/** A group or project, as far as it decides on the roles that its members can have. */
export interface RolePlace {
  kind: 'group' | 'project';
  id: number;
  /** The groups above it, from the top down. */
  above: readonly number[];
}

/** What a membership gets by a role. */
export interface UsableRole {
  id: number;
  base_access_level: number;
  permissions: readonly Permission[];
}

/**
 * A role that members of a group or project can have: one of the instance, or of the top-level group that it stands in. Nobody removes it before somebody has it.
 * @param tx the transaction that gives it
 * @param id of the role
 * @throws ApiError 400 for any other, whether it exists or not
 */
export async function memberRoleFor(tx: Database, { kind, id: place_id, above }: RolePlace, id: number): Promise<UsableRole> {
  const [root = kind === 'group' ? place_id : null] = above;
  const role = await tx
    .selectFrom('member_roles')
    .select(['id', 'base_access_level', 'permissions'])
    .where('id', '=', id)
    .where(sql<boolean>`(group_id is null or group_id = ${root}::bigint)`)
    .forKeyShare()
    .$castTo<UsableRole>()
    .executeTakeFirst();
  if (!role) throw invalid({ member_role: ['not found'] });
  return role;
}
