/** Complete changes of roles. */
import { type SelectQueryBuilder, sql } from 'kysely';
import { lockTree, permissions } from '../../../access/index.ts';
import { type Database, type DB, isForeignKeyViolation, isUniqueViolation } from '../../../db/index.ts';
import { ApiError, badRequest, checkUnmodified, found } from '../../../http/index.ts';
import { belongsTo, type MemberRoleRow, memberRoleColumns } from './queries.ts';
import { maximumRoles, type RoleValues, roleReasons, taken, tooMany } from './rules.ts';

/** What a role gets when nobody says otherwise. */
const nothing = Object.fromEntries(permissions.map((name) => [name, false])) as Omit<
  RoleValues,
  'name' | 'description' | 'base_access_level'
>;

export type NewRole = Pick<RoleValues, 'name' | 'base_access_level'> & Partial<RoleValues>;

/** @throws ApiError 400 with all reasons in one text */
function refuse(reasons: readonly string[]): void {
  if (reasons.length > 0) throw badRequest(reasons.join(', '));
}

/** `work`, where another role may take the name meanwhile. */
const orTaken = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw isUniqueViolation(error, 'member_roles_name_key') ? badRequest(taken) : error;
  });

/** Whether another role of the same owner has a name. */
async function isTaken(tx: Database, group_id: number | null, name: string, except_id?: number): Promise<boolean> {
  const query = tx.selectFrom('member_roles').select('id').where(belongsTo(group_id)).where('name', '=', name);
  return (await query.$if(except_id !== undefined, (q) => q.where('id', '<>', except_id!)).executeTakeFirst()) !== undefined;
}

async function isFull(tx: Database, group_id: number): Promise<boolean> {
  const query = tx.selectFrom('member_roles').select(sql<number>`count(*)`.as('count')).where('group_id', '=', group_id);
  return (await query.executeTakeFirstOrThrow()).count >= maximumRoles;
}

/**
 * Adds a role.
 * @param group_id of a top-level group; null: of the instance
 * @throws ApiError 400 with all reasons in one text
 */
export const createRole = (db: Database, group_id: number | null, given: NewRole): Promise<MemberRoleRow> =>
  orTaken(
    db.transaction().execute(async (tx) => {
      // So that two do not both become the tenth.
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
  /** A role stays where it is; what names another place is refused. */
  group_id?: number | null;
}

/**
 * Changes a role. Whoever has it has what it says from then on.
 * @param group_id whose it is; null: the instance's
 * @throws ApiError 404, 400 with all reasons in one text
 */
export const changeRole = (db: Database, group_id: number | null, id: number, changes: RoleChanges): Promise<MemberRoleRow> =>
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
        .set({ ...role, updated_at: sql`now()` })
        .where('id', '=', id)
        .returning(memberRoleColumns)
        .executeTakeFirstOrThrow();
    }),
  );

/** The role, which nobody else changes until the transaction ends. */
async function lockedRole(tx: Database, group_id: number | null, id: number) {
  const query: SelectQueryBuilder<DB, 'member_roles', MemberRoleRow> = tx.selectFrom('member_roles').select(memberRoleColumns);
  return found('Member Role', await query.where(belongsTo(group_id)).where('id', '=', id).forUpdate().executeTakeFirst());
}

const assigned = 'Role is assigned to one or more group members. Remove role from all group members, then delete role.';

/**
 * Removes a role that nobody has. Who was to get it by an invitation gets its level alone.
 * @param group_id whose it is; null: the instance's
 * @throws ApiError 404, 400 while members have it, 412 when it changed after `unmodified_since`
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
    // Memberships that have ended are nobody's any more, though they are cleared away at night only.
    await sql`update members set member_role_id = null where member_role_id = ${id} and expires_at <= current_date`.execute(tx);
    await tx.deleteFrom('member_roles').where('id', '=', id).execute();
  });
  await removal.catch((error: unknown) => {
    throw isForeignKeyViolation(error, 'members_role_fkey') ? new ApiError(400, { message: [assigned] }) : error;
  });
}
