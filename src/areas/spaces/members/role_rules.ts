/** Roles of memberships: who may have which, and who may give it. */
import { sql } from 'kysely';
import { type Permission, rolesCount } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { forbidden, invalid } from '../../../http/index.ts';
import { memberRoleFor } from '../member_roles/index.ts';
import { counts, isDirect } from './queries.ts';
import { type Actor, isAbove, roleKeepsLevel, type Source } from './rules.ts';

/** A membership that counts, with what its role adds. */
export interface Held {
  id: number;
  user_id: number;
  access_level: number;
  expires_at: string | null;
  updated_at: string;
  /** Null also under a plan without roles. */
  member_role_id: number | null;
  permissions: readonly Permission[];
}

/** The memberships of these users in a group or project that count. */
export const heldBy = (db: Database, source: Pick<Source, 'kind' | 'id'>, user_ids: readonly number[]) =>
  db
    .selectFrom('members')
    .leftJoin('member_roles', (join) => join.onRef('member_roles.id', '=', 'members.member_role_id').on(rolesCount))
    .select([
      'members.id',
      'members.user_id',
      'members.access_level',
      'members.expires_at',
      'members.updated_at',
      'member_roles.id as member_role_id',
    ])
    .select(sql<readonly Permission[]>`coalesce(member_roles.permissions, '{}')`.as('permissions'))
    .where(isDirect(source, 'members'))
    .where(counts)
    .where(sql<boolean>`members.user_id = any(${user_ids}::bigint[])`)
    .$castTo<Held>()
    .execute();

/** What a membership is to be. */
export interface Grant {
  access_level: number;
  /** The role, whose level must be `access_level`; null: none; left out: the one that the member has. */
  member_role_id?: number | null | undefined;
}

/**
 * Refuses a role that members of the source cannot have, or that this actor cannot give: nobody hands out what he does not hold himself.
 * @param tx the transaction that gives it
 * @throws ApiError 400 for a role that does not fit, 403 for permissions that the actor does not have
 */
export async function checkRole(
  tx: Database,
  source: Source,
  actor: Actor,
  { access_level, member_role_id }: Grant,
): Promise<void> {
  if (member_role_id === undefined || member_role_id === null) return;
  const { base_access_level, permissions } = await memberRoleFor(tx, source, member_role_id);
  if (base_access_level !== access_level) throw invalid({ access_level: [roleKeepsLevel] });
  if (isAbove(actor, source.kind, { access_level, permissions })) throw forbidden();
}

/** The value of `members.member_role_id` for a grant. A membership that has ended begins anew without the role that it had. */
export const roleColumn = ({ access_level, member_role_id }: Grant) =>
  member_role_id === undefined
    ? sql<
        number | null
      >`case when members.access_level = ${access_level} and coalesce(members.expires_at > current_date, true) then members.member_role_id end`
    : member_role_id;
