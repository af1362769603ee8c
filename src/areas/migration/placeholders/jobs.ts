/** Reassigning the records of placeholders to accounts. */
import { sql } from 'kysely';
import { countsToday, lockTrees, refreshAuthorizations, subtreeOf } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { type JobCall, job } from '../../../jobs/index.ts';
import { endProposalTodos } from '../../activity/todos/index.ts';
import { handOver, scheduleRemovalOfOrphans } from '../../people/users/index.ts';
import { hasSeatsFor } from '../../spaces/members/index.ts';
import { isActivePerson, ownTables } from './queries.ts';

/**
 * Schedules the reassignment of a placeholder. The last request wins, and open questions to users whether the
 * placeholder is theirs are withdrawn.
 * @param tx a transaction
 * @param user_id an active person
 */
export async function requestReassignment(tx: Database, placeholder_id: number, user_id: number): Promise<void> {
  await tx
    .updateTable('placeholders')
    .set({ assignee_id: user_id, proposed_user_id: null })
    .where('user_id', '=', placeholder_id)
    .execute();
  await endProposalTodos(tx, placeholder_id);
  await reassignPlaceholder.enqueue(tx, { placeholder_id }, { key: String(placeholder_id) });
}

/** Reassigns all records of a placeholder to its assignee. It can be interrupted at any point and run again. */
export const reassignPlaceholder = job('reassign_placeholder', {
  input: { placeholder_id: Id },
  retries: 10,
  run: async (call) => {
    if (await reassign(call)) call.log.info(call.input, 'reassigned a placeholder');
  },
});

async function reassign({ db, input, signal }: JobCall<{ placeholder_id: number }>): Promise<boolean> {
  const from = input.placeholder_id;
  const query = db.selectFrom('placeholders').select('assignee_id').where('user_id', '=', from);
  const to = (await query.executeTakeFirst())?.assignee_id;
  if (!to) return false;
  if (!(await isActivePerson(db, to))) {
    await db.updateTable('placeholders').set({ assignee_id: null }).where('user_id', '=', from).execute();
    return false;
  }
  // Most rows move before the transaction that takes locks.
  await handOver(db, { from, to, except: ownTables }, signal);
  await db.transaction().execute(async (tx) => {
    await giveMemberships(tx, from, to);
    await handOver(tx, { from, to, except: ownTables });
    await tx.deleteFrom('users').where('id', '=', from).where('user_type', '=', 'placeholder').execute();
  });
  return true;
}

interface MembershipRow {
  group_id: number | null;
  project_id: number | null;
  access_level: number;
}

/**
 * Gives the user the memberships that have not expired and raise their level there. Gives none if the license has no
 * free seat.
 */
async function giveMemberships(tx: Database, from: number, to: number): Promise<void> {
  const kept = await sql<MembershipRow & { namespace_id: number }>`
    select kept.group_id, kept.project_id, kept.access_level, coalesce(kept.group_id, projects.namespace_id) as namespace_id
      from placeholder_memberships kept left join projects on projects.id = kept.project_id
     where kept.user_id = ${from} order by kept.id`.execute(tx);
  if (kept.rows.length === 0) return;
  await lockTrees(
    tx,
    kept.rows.map(({ namespace_id }) => namespace_id),
    kept.rows.flatMap(({ group_id }) => group_id ?? []),
  );
  const access_level = Math.max(...kept.rows.map((row) => row.access_level));
  if (!(await hasSeatsFor(tx, { user_ids: [to], addresses: 0 }, { access_level }))) return;
  const { rows } = await sql<MembershipRow>`
    insert into members (user_id, group_id, project_id, access_level, expires_at)
    select ${to}, kept.group_id, kept.project_id, kept.access_level, kept.expires_at
      from placeholder_memberships kept
      left join projects on projects.id = kept.project_id
      join namespaces place on place.id = coalesce(kept.group_id, projects.namespace_id)
     where kept.user_id = ${from} and ${countsToday('kept')}
       and not exists (
         select from members held
          where held.user_id = ${to} and ${countsToday('held')} and held.access_level >= kept.access_level
            and (held.group_id = any(place.traversal_ids) or held.project_id = kept.project_id))
    on conflict do nothing
    returning group_id, project_id, access_level`.execute(tx);
  await refreshAuthorizations(tx, rows.map(subtreeOf), [to]);
}

/** Every hour: schedules the deletion of placeholders whose group was deleted. */
export const removeOrphanedPlaceholders = job('remove_orphaned_placeholders', {
  input: {},
  retries: 2,
  schedule: '47 * * * *',
  run: ({ db }) => scheduleRemovalOfOrphans(db, 'placeholder', 'placeholders'),
});
