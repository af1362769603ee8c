/** Changes of member roles (docs/reference/member_roles.md). */
import { type SelectQueryBuilder, sql } from 'kysely';
import { hasEnded, isOpenInvitation, lockTree, permissions } from '../../../access/index.ts';
import { type Database, type DB, isForeignKeyViolation, isUniqueViolation, stamped } from '../../../db/index.ts';
import { badRequest, checkUnmodified, found } from '../../../http/index.ts';
import { belongsTo, type MemberRoleRow, memberRoleColumns } from './queries.ts';
import { maximumRoles, type RoleValues, roleReasons, taken, tooMany } from './rules.ts';

/** The default permissions of a role. */
const nothing = Object.fromEntries(permissions.map((name) => [name, false])) as Omit<
  RoleValues,
  'name' | 'description' | 'base_access_level'
>;

export type NewRole = Pick<RoleValues, 'name' | 'base_access_level'> & Partial<RoleValues>;

/** @throws ApiError 400 with all reasons in one text */
function refuse(reasons: readonly string[]): void {
  if (reasons.length > 0) throw badRequest(reasons.join(', '));
}

/** Translates a violation of unique names: another role may take the name in the meantime. */
const orTaken = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw isUniqueViolation(error, 'member_roles_name_key') ? badRequest(taken) : error;
  });

/** Whether another role of the same owner has a name. */
async function isTaken(tx: Database, group_id: number | null, name: string, except_id?: number): Promise<boolean> {
  const query = tx.selectFrom('member_roles').select('id').where(belongsTo(group_id)).where('name', '=', name);
  return (
    (await query.$if(except_id !== undefined, (q) => q.where('id', '<>', except_id!)).executeTakeFirst()) !== undefined
  );
}

async function isFull(tx: Database, group_id: number): Promise<boolean> {
  const query = tx
    .selectFrom('member_roles')
    .select(sql<number>`count(*)`.as('count'))
    .where('group_id', '=', group_id);
  return (await query.executeTakeFirstOrThrow()).count >= maximumRoles;
}

/**
 * Creates a role.
 * @param group_id ID of a top-level group; null: the instance
 * @throws ApiError 400 with all reasons in one text
 */
export const createRole = (db: Database, group_id: number | null, given: NewRole): Promise<MemberRoleRow> =>
  orTaken(
    db.transaction().execute(async (tx) => {
      // Two concurrent requests must not both create the tenth role.
      if (group_id !== null) await lockTree(tx, group_id);
      const role = { ...nothing, description: null, ...given };
      refuse([
        ...((await isTaken(tx, group_id, role.name)) ? [taken] : []),
        ...(group_id !== null && (await isFull(tx, group_id)) ? [tooMany] : []),
        ...roleReasons(role),
      ]);
      return tx
        .insertInto('member_roles')
        .values({ ...role, group_id })
        .returning(memberRoleColumns)
        .executeTakeFirstOrThrow();
    }),
  );

export interface RoleChanges extends Partial<RoleValues> {
  /** Must be the same group: roles cannot be moved. */
  group_id?: number | null;
}

/**
 * Updates a role. The change applies to members with the role at once.
 * @param group_id the group of the role; null: the instance
 * @throws ApiError 404, 400 with all reasons in one text
 */
export const changeRole = (
  db: Database,
  group_id: number | null,
  id: number,
  changes: RoleChanges,
): Promise<MemberRoleRow> =>
  orTaken(
    db.transaction().execute(async (tx) => {
      const before = await lockedRole(tx, group_id, id);
      const { id: _, ...role } = { ...before, ...changes };
      refuse([
        ...(role.base_access_level === before.base_access_level
          ? []
          : ['Base access level cannot be changed. Please create a new Member Role instead.']),
        ...(role.group_id === group_id ? [] : ["Namespace can't be changed"]),
        ...((await isTaken(tx, group_id, role.name, id)) ? [taken] : []),
        ...roleReasons(role),
      ]);
      return tx
        .updateTable('member_roles')
        .set(stamped(role))
        .where('id', '=', id)
        .returning(memberRoleColumns)
        .executeTakeFirstOrThrow();
    }),
  );

/** The role, locked until the transaction ends. */
async function lockedRole(tx: Database, group_id: number | null, id: number) {
  const query: SelectQueryBuilder<DB, 'member_roles', MemberRoleRow> = tx
    .selectFrom('member_roles')
    .select(memberRoleColumns);
  return found(
    'Member Role',
    await query.where(belongsTo(group_id)).where('id', '=', id).forUpdate().executeTakeFirst(),
  );
}

const assigned = 'Role is assigned to one or more group members. Remove role from all group members, then delete role.';

/**
 * Deletes a role that no member and no pending invitation has.
 * @param group_id the group of the role; null: the instance
 * @throws ApiError 404, 400 while it is assigned, 412 when it changed after `unmodified_since`
 */
export async function deleteRole(
  db: Database,
  group_id: number | null,
  id: number,
  unmodified_since: Date | undefined,
): Promise<void> {
  const removal = db.transaction().execute(async (tx) => {
    const query = tx.selectFrom('member_roles').select('updated_at').where(belongsTo(group_id)).where('id', '=', id);
    const { updated_at } = found('Member Role', await query.forUpdate().executeTakeFirst());
    checkUnmodified(updated_at, unmodified_since);
    // Expired memberships do not count, although their rows are deleted only at night.
    await sql`update members set member_role_id = null where member_role_id = ${id} and ${hasEnded()}`.execute(tx);
    await sql`delete from members_by_hand where member_role_id = ${id} and ${hasEnded()}`.execute(tx);
    await sql`update invitations set member_role_id = null where member_role_id = ${id} and not ${isOpenInvitation}`.execute(
      tx,
    );
    await tx.deleteFrom('member_roles').where('id', '=', id).execute();
  });
  await removal.catch((error: unknown) => {
    throw isForeignKeyViolation(error) ? badRequest(assigned) : error;
  });
}
