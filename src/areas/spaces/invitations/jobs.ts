/** Background work of invitations: accepting, reminding and deleting. */
import { sql } from 'kysely';
import { invitationLifetime_days, isOpenInvitation } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { job } from '../../../jobs/index.ts';
import { acceptInvitationsTo } from '../../people/emails/index.ts';
import { acceptPending } from './acceptance_actions.ts';
import { remindOfInvitation } from './mail_jobs.ts';
import { nextReminder } from './rules.ts';

/** Accepts all invitations to an address that was confirmed. */
export const acceptInvitations = acceptInvitationsTo.runBy(async ({ db, input, signal }) => {
  const owner = await db
    .selectFrom('emails')
    .innerJoin('users', 'users.id', 'emails.user_id')
    .select(['emails.user_id', 'emails.email'])
    .where('emails.id', '=', input.email_id)
    .where('emails.confirmed_at', 'is not', null)
    .where('users.state', '=', 'active')
    .where('users.user_type', '=', 'human')
    .executeTakeFirst();
  if (owner) await acceptPending(db, owner.user_id, owner.email, signal);
});

/** Invitations per transaction. */
const batch = 500;

/** Every morning: sends reminders. A server that was down sends one reminder for all that it missed. */
export const remindInvited = job('remind_invited', {
  input: {},
  retries: 3,
  schedule: '20 7 * * *',
  run: async ({ db, signal, log }) => {
    let reminded = 0;
    for (let some = batch; some === batch; ) {
      signal.throwIfAborted();
      some = await db.transaction().execute(remindSome);
      reminded += some;
    }
    log.info({ reminded }, 'sent reminders of invitations');
  },
});

/** @returns the number of reminders */
async function remindSome(tx: Database): Promise<number> {
  const due = await tx
    .selectFrom('invitations')
    .select(['id', 'created_at', 'expires_at', 'reminders'])
    .select(sql<string>`current_date`.as('today'))
    .where('remind_on', '<=', sql<string>`current_date`)
    .orderBy('remind_on')
    .orderBy('id')
    .limit(batch)
    .forUpdate()
    .skipLocked()
    .execute();
  if (due.length === 0) return 0;
  const next = due.map(({ created_at, expires_at, reminders, today }) =>
    nextReminder({ created_at, expires_at }, reminders + 1, today),
  );
  const ids = due.map(({ id }) => id);
  await sql`
    update invitations set reminders = reminders + 1, remind_on = due.remind_on
      from unnest(${ids}::bigint[], ${next}::date[]) due(id, remind_on) where invitations.id = due.id`.execute(tx);
  await remindOfInvitation.enqueueEach(
    tx,
    ids.map((invitation_id) => ({ invitation_id })),
  );
  return due.length;
}

/** Every night, after the end of the day: deletes invitations that can no longer be accepted. */
export const removeOldInvitations = job('remove_old_invitations', {
  input: {},
  retries: 3,
  schedule: '20 0 * * *',
  run: async ({ db, log }) => {
    const { numDeletedRows } = await db
      .deleteFrom('invitations')
      .where(sql<boolean>`not ${isOpenInvitation}`)
      .executeTakeFirst();
    await db
      .deleteFrom('declined_invitations')
      .where(sql<boolean>`declined_at < now() - make_interval(days => ${sql.lit(invitationLifetime_days)})`)
      .execute();
    log.info({ removed: Number(numDeletedRows) }, 'deleted expired invitations');
  },
});
