/** Deleting users (docs/reference/users.md#deletion). */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { countsToday, isLastingOwner, levels, lockTrees } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { checkUnmodified, conflict, forbidden, found, Id } from '../../../http/index.ts';
import { type JobCall, job } from '../../../jobs/index.ts';
import { audit } from '../../instance/audit_events/index.ts';
import { removeGroupsNow } from '../namespaces/deletion_actions.ts';
import { deleteProjects } from '../namespaces/jobs.ts';
import { moveContributions } from './contribution_actions.ts';
import { tellOfUser } from './hook_actions.ts';
import { ghostUser } from './internal_actions.ts';

export interface Removal {
  /**
   * Whether to also delete texts of the user and the groups that they alone own. Otherwise contributions go to the
   * ghost user.
   */
  hard: boolean;
  unmodified_since?: Date | undefined;
}

/**
 * Blocks a user and schedules their deletion.
 * @throws ApiError 404, 403 for the ghost user, 409 when a group has no other owner who will stay, 412 when the user changed after `unmodified_since`
 */
export async function requestRemoval(
  db: Database,
  user_id: number,
  { hard, unmodified_since }: Removal,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const query = tx.selectFrom('users').select(['user_type', 'updated_at']).where('id', '=', user_id).forNoKeyUpdate();
    const { user_type, updated_at } = found('User', await query.executeTakeFirst());
    if (user_type === 'ghost' || user_type === 'security_policy_bot') throw forbidden();
    checkUnmodified(updated_at, unmodified_since);
    if (!hard && (await groupsOwnedAlone(tx, user_id, isLastingOwner)).length > 0)
      throw conflict('User cannot be removed while is the sole-owner of a group');
    await scheduleRemoval(tx, user_id, hard);
  });
}

/**
 * The same without checks.
 * @param tx the transaction that no longer needs the user
 */
export async function scheduleRemoval(
  tx: Database,
  user_id: number,
  hard: boolean,
  event_name: 'user_destroyed' | 'user_rejected' = 'user_destroyed',
): Promise<void> {
  await audit(tx, { event_name, entity: { type: 'User', id: user_id }, details: { remove: 'user' } });
  await tx.updateTable('users').set({ state: 'blocked', updated_at: sql`now()` }).where('id', '=', user_id).execute();
  await removeUser.enqueue(tx, { user_id, hard }, { key: String(user_id) });
}

/** The maximum number of users per run. */
const atOnce = 1000;

/**
 * Schedules the deletion of bot users, service accounts or placeholders whose project or group was deleted.
 * @param kept the table whose row about the user was deleted with the project or group
 */
export async function scheduleRemovalOfOrphans(
  db: Database,
  user_type: 'project_bot' | 'service_account' | 'placeholder',
  kept: string,
): Promise<void> {
  const orphans = await db
    .selectFrom('users')
    .select('id')
    .where('user_type', '=', sql.lit(user_type))
    .where(sql<boolean>`not exists (select from ${sql.table(kept)} kept where kept.user_id = users.id)`)
    .limit(atOnce)
    .execute();
  for (const { id } of orphans) await db.transaction().execute((tx) => scheduleRemoval(tx, id, false));
}

/**
 * Rejects a pending account and deletes it.
 * @throws ApiError 404, 409 for accounts that are not pending approval
 */
export async function rejectUser(db: Database, user_id: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const query = tx.selectFrom('users').select('state').where('id', '=', user_id).forNoKeyUpdate();
    const { state } = found('User', await query.executeTakeFirst());
    if (state !== 'blocked_pending_approval') throw conflict('User does not have a pending request');
    await scheduleRemoval(tx, user_id, true, 'user_rejected');
  });
}

/** Rows of `members`: owners who are people, one of whom is enough to keep a group that would otherwise be deleted. */
const isHumanOwner = sql<boolean>`
  (members.access_level = ${sql.lit(levels.owner)} and ${countsToday('members')} and users.user_type = 'human')`;

/**
 * The groups without another owner, direct or inherited.
 * @param isOwner which rows of `members` and `users` count as owners
 */
async function groupsOwnedAlone(tx: Database, user_id: number, isOwner: RawBuilder<boolean>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select namespaces.id from members own join namespaces on namespaces.id = own.group_id
     where own.user_id = ${user_id} and own.access_level = ${levels.owner} and ${countsToday('own')}
       and not exists (
         select from members join users on users.id = members.user_id
          where members.group_id = any(namespaces.traversal_ids) and members.user_id <> ${user_id} and ${isOwner})`.execute(
    tx,
  );
  return rows.map(({ id }) => id);
}

/** Deletes one user. The job can be interrupted anywhere and run again. */
export const removeUser = job('remove_user', {
  input: { user_id: Id, hard: Type.Boolean() },
  retries: 10,
  run: async (call) => {
    if (await remove(call)) call.log.info(call.input, 'deleted a user');
  },
});

async function remove({ db, url, input, signal }: JobCall<{ user_id: number; hard: boolean }>): Promise<boolean> {
  const { user_id, hard } = input;
  if (!(await db.selectFrom('users').select('id').where('id', '=', user_id).executeTakeFirst())) return false;
  const move = { from: user_id, to: await ghostUser({ db, url }), hard };
  // Most contributions are moved before the transaction that takes locks.
  await moveContributions(db, move, signal);
  await db.transaction().execute(async (tx) => {
    await lockTrees(tx, await placesOf(tx, user_id));
    if (hard) await removeGroupsNow(tx, await groupsOwnedAlone(tx, user_id, isHumanOwner));
    await removeOwnProjects(tx, user_id);
    await moveContributions(tx, move);
    await tellOfUser(tx, 'user_destroy', user_id);
    await tx.deleteFrom('users').where('id', '=', user_id).execute();
  });
  return true;
}

/** Namespaces whose trees change: the user's own, and those where they are a member. */
async function placesOf(tx: Database, user_id: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from namespaces where owner_id = ${user_id}
    union
    select coalesce(members.group_id, projects.namespace_id) from members left join projects on projects.id = members.project_id
     where user_id = ${user_id}`.execute(tx);
  return rows.map(({ id }) => id);
}

const removeOwnProjects = (tx: Database, user_id: number): Promise<number> =>
  deleteProjects(tx, sql`projects.namespace_id = (select id from namespaces own where own.owner_id = ${user_id})`);
