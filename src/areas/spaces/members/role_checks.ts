/** Custom roles of memberships: where they are available and who may give them. */
import { sql } from 'kysely';
import { countsToday, type Permission, rolesCount } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import { forbidden, invalid } from '../../../http/index.ts';
import { memberRoleFor } from '../member_roles/queries.ts';
import { isDirect } from './queries.ts';
import { type Actor, isAbove, roleKeepsLevel, type Source } from './rules.ts';

/** A membership in force, with the permissions of its custom role. */
export interface Held {
  id: number;
  user_id: number;
  user_type: string;
  access_level: number;
  expires_at: string | null;
  updated_at: string;
  /** The kind of links that give it; null: it was made by hand. */
  source: string | null;
  /** Also null on a plan without custom roles. */
  member_role_id: number | null;
  permissions: readonly Permission[];
}

/** Direct memberships in force of users in a group or project. */
export const heldBy = (db: Database, source: Pick<Source, 'kind' | 'id'>, user_ids: readonly number[]) =>
  db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .leftJoin('member_roles', (join) => join.onRef('member_roles.id', '=', 'members.member_role_id').on(rolesCount))
    .select([
      'members.id',
      'members.user_id',
      'users.user_type',
      'members.access_level',
      'members.expires_at',
      'members.updated_at',
      'members.source',
      'member_roles.id as member_role_id',
    ])
    .select(sql<readonly Permission[]>`coalesce(member_roles.permissions, '{}')`.as('permissions'))
    .where(isDirect(source, 'members'))
    .where(countsToday('members'))
    .where(isAmong('members.user_id', user_ids, 'bigint[]'))
    .$castTo<Held>()
    .execute();

/** The level and custom role that a membership gets. */
export interface Grant {
  access_level: number;
  /**
   * A custom role with the base level `access_level`; null removes it; if omitted, the member keeps theirs unless the
   * level changes.
   */
  member_role_id?: number | null | undefined;
}

/**
 * Refuses a custom role that is not available in the source, or that has more permissions than the actor.
 * @param tx the transaction that gives it
 * @throws ApiError 400 for an unavailable role or another base level, 403 for permissions that the actor does not have
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

/**
 * The value of `members.member_role_id` for a grant. A membership that replaces an expired one does not inherit its
 * role.
 */
export const roleColumn = ({ access_level, member_role_id }: Grant) =>
  member_role_id === undefined
    ? sql<
        number | null
      >`case when members.access_level = ${access_level} and ${countsToday('members')} then members.member_role_id end`
    : member_role_id;
