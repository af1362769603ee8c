/** Queries for member roles, and where they are available. */
import { sql } from 'kysely';
import { type Static, type TBoolean, Type } from 'typebox';
import { type Permission, permissions } from '../../../access/index.ts';
import { columnsOf, type Database, isAmong } from '../../../db/index.ts';
import { Id, IdOf, invalid, nullable, optional, resource, since } from '../../../http/index.ts';

const flags = Object.fromEntries(permissions.map((name) => [name, Type.Boolean()])) as Record<Permission, TBoolean>;

/** A member role in responses. */
export const MemberRole = resource('MemberRole', {
  id: Id,
  name: Type.String(),
  description: nullable(Type.String()),
  group_id: nullable(Id),
  base_access_level: Type.Integer(),
  ...flags,
});
export type MemberRoleRow = Static<typeof MemberRole>;

/** The parameter of requests that give a member a role. */
export const RoleId = () =>
  since(
    'ultimate',
    optional(
      nullable(
        IdOf({
          description:
            'Custom role with that base level; null removes the role, leaving it out keeps it while the level stays',
        }),
      ),
    ),
  );

export const memberRoleColumns = columnsOf(MemberRole);

/** A predicate: the role belongs to a group, or to the instance. `is not distinct from` would express both, but uses no index. */
export const belongsTo = (group_id: number | null) =>
  group_id === null ? sql<boolean>`member_roles.group_id is null` : sql<boolean>`member_roles.group_id = ${group_id}`;

/** Roles by their IDs, as in responses. */
export async function memberRolesById(db: Database, ids: readonly number[]): Promise<Map<number, MemberRoleRow>> {
  if (ids.length === 0) return new Map();
  const query = db.selectFrom('member_roles').select(memberRoleColumns);
  const rows = await query.where(isAmong('id', [...new Set(ids)], 'bigint[]')).execute();
  return new Map(rows.map((role) => [role.id, role]));
}

/** A group or project whose members get a role. */
export interface RoleOwner {
  kind: 'group' | 'project';
  id: number;
  /** Its ancestor groups, top-level group first. */
  above: readonly number[];
}

/** A role that a membership can get. */
export interface UsableRole {
  id: number;
  base_access_level: number;
  permissions: readonly Permission[];
}

/**
 * A role that is available in a group or project: one of the instance or of its top-level group. It is locked against deletion until the membership is written.
 * @param tx the transaction that gives it
 * @param id of the role
 * @throws ApiError 400 for any other role, whether it exists or not
 */
export async function memberRoleFor(
  tx: Database,
  { kind, id: place_id, above }: RoleOwner,
  id: number,
): Promise<UsableRole> {
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
