/** Complete changes of the removal of users. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { lockTrees } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { checkUnmodified, conflict, forbidden, found, Id } from '../../../http/index.ts';
import { type JobCall, job } from '../../../jobs/index.ts';
import { deleteRepositories } from '../../code/repository/index.ts';
import { removeGroup } from '../../spaces/groups/index.ts';
import { moveContributions } from './contribution_actions.ts';
import { ghostUser } from './index.ts';

export interface Removal {
  /** Whether what the user has written goes, too, and the groups that only he owns. Otherwise the ghost gets it. */
  hard: boolean;
  unmodified_since?: Date | undefined;
}

/**
 * Shuts a user out and has a job remove him.
 * @throws ApiError 404, 403 for users that no person stands behind, 409 when a group has no other owner, 412 when he changed after `unmodified_since`
 */
export async function requestRemoval(db: Database, user_id: number, { hard, unmodified_since }: Removal): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const query = tx.selectFrom('users').select(['user_type', 'updated_at']).where('id', '=', user_id).forNoKeyUpdate();
    const { user_type, updated_at } = found('User', await query.executeTakeFirst());
    if (user_type === 'ghost') throw forbidden();
    checkUnmodified(updated_at, unmodified_since);
    if (!hard && (await groupsOwnedAlone(tx, user_id)).length > 0)
      throw conflict('User cannot be removed while is the sole-owner of a group');
    await scheduleRemoval(tx, user_id, hard);
  });
}

/**
 * The same for a user of whom nothing has to be asked.
 * @param tx the transaction that has found him superfluous
 */
export async function scheduleRemoval(tx: Database, user_id: number, hard: boolean): Promise<void> {
  await tx.updateTable('users').set({ state: 'blocked', updated_at: sql`now()` }).where('id', '=', user_id).execute();
  await removeUser.enqueue(tx, { user_id, hard }, { key: String(user_id) });
}

/** A run of a job leaves the rest to the next one. */
const atOnce = 1000;

/**
 * Has the programs of a kind removed whose project or group is gone.
 * @param kept the table that lost its row about them with the project or group
 */
export async function scheduleRemovalOfOrphans(
  db: Database,
  user_type: 'project_bot' | 'service_account',
  kept: 'access_token_bots' | 'service_accounts',
): Promise<void> {
  const orphans = await db
    .selectFrom('users')
    .select('id')
    .where('user_type', '=', sql.lit(user_type))
    .where((q) => q.not(q.exists(q.selectFrom(kept).select('user_id').whereRef('user_id', '=', 'users.id'))))
    .limit(atOnce)
    .execute();
  for (const { id } of orphans) await db.transaction().execute((tx) => scheduleRemoval(tx, id, false));
}

/**
 * Turns somebody down who has asked for an account: nothing of him is kept.
 * @throws ApiError 404, 409 for accounts that wait for nobody
 */
export async function rejectUser(db: Database, user_id: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const query = tx.selectFrom('users').select('state').where('id', '=', user_id).forNoKeyUpdate();
    const { state } = found('User', await query.executeTakeFirst());
    if (state !== 'blocked_pending_approval') throw conflict('User does not have a pending request');
    await scheduleRemoval(tx, user_id, true);
  });
}

/** The groups that nobody else owns, by a membership there or above. Programs do not count: nobody could ask them. */
async function groupsOwnedAlone(tx: Database, user_id: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select namespaces.id from members own join namespaces on namespaces.id = own.group_id
     where own.user_id = ${user_id} and own.access_level = 50 and (own.expires_at is null or own.expires_at > current_date)
       and not exists (
         select from members other join users on users.id = other.user_id
          where other.group_id = any(namespaces.traversal_ids) and other.user_id <> ${user_id} and other.access_level = 50
            and (other.expires_at is null or other.expires_at > current_date) and users.user_type = 'human')`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Removes one user. It may be cut off anywhere and run again. */
export const removeUser = job('remove_user', {
  input: { user_id: Id, hard: Type.Boolean() },
  retries: 10,
  run: async (call) => {
    if (await remove(call)) call.log.info(call.input, 'a user was removed');
  },
});

async function remove({ db, url, input, signal }: JobCall<{ user_id: number; hard: boolean }>): Promise<boolean> {
  const { user_id, hard } = input;
  if (!(await db.selectFrom('users').select('id').where('id', '=', user_id).executeTakeFirst())) return false;
  const move = { from: user_id, to: await ghostUser({ db, url }), hard };
  // Whatever there is much of goes before the transaction that holds locks.
  await moveContributions(db, move, signal);
  await db.transaction().execute(async (tx) => {
    await lockTrees(tx, await placesOf(tx, user_id));
    if (hard) await removeGroups(tx, await groupsOwnedAlone(tx, user_id));
    await removeOwnProjects(tx, user_id);
    await moveContributions(tx, move);
    await tx.deleteFrom('users').where('id', '=', user_id).execute();
  });
  return true;
}

/** Namespaces in whose trees something changes: his own, and where he is a member. */
async function placesOf(tx: Database, user_id: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from namespaces where owner_id = ${user_id}
    union
    select coalesce(members.group_id, projects.namespace_id) from members left join projects on projects.id = members.project_id
     where user_id = ${user_id}`.execute(tx);
  return rows.map(({ id }) => id);
}

async function removeGroups(tx: Database, group_ids: readonly number[]): Promise<void> {
  for (const group_id of group_ids) {
    await tx.updateTable('namespaces').set({ marked_for_deletion_at: sql`now()` }).where('id', '=', group_id).execute();
    await removeGroup.enqueue(tx, { group_id }, { key: String(group_id) });
  }
}

async function removeOwnProjects(tx: Database, user_id: number): Promise<void> {
  const { rows: repositories } = await sql<{ id: number; storage: string }>`
    delete from projects where namespace_id = (select id from namespaces where owner_id = ${user_id}) returning id, storage`.execute(
    tx,
  );
  if (repositories.length > 0) await deleteRepositories.enqueue(tx, { repositories });
}
