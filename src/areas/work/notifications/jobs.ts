/** Sending notifications: one job finds the recipients, and one for each of them sends the message. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { issuableKinds } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { mailRetries } from '../../../mail/index.ts';
import { notify, notifying } from '../../activity/notification_settings/index.ts';
import { partsFor } from './message_queries.ts';
import { mailOf } from './present.ts';
import { type News, recipientsOf } from './recipient_queries.ts';

const isNote = (target_type: string) => target_type.endsWith('Note');

/** What a notification is about; undefined when it is gone, or of a kind whose notes nobody is told of. */
async function newsOf(
  tx: Database,
  row: { event: string; target_type: string; target_id: number; actor_id: number | null; user_ids: number[] },
): Promise<News | undefined> {
  const { event, target_type, target_id, actor_id, user_ids } = row;
  if (!isNote(target_type)) {
    const kind = issuableKinds.find(({ type }) => type === target_type);
    return kind && { event, on: { kind, id: target_id }, actor_id, user_ids };
  }
  const note = await tx
    .selectFrom('notes')
    .select(['id', 'internal', 'issue_id', 'epic_id', 'merge_request_id'])
    .where('id', '=', target_id)
    .executeTakeFirst();
  const kind = note && issuableKinds.find(({ column }) => note[column] !== null);
  return kind && { event, on: { kind, id: note[kind.column]! }, note, actor_id, user_ids };
}

/** Sends one person a message. What is gone or hidden from them by then is not told. */
export const sendNotification = job('send_notification', {
  input: {
    id: Type.String(),
    event: Type.String(),
    kind: Type.String(),
    item_id: Id,
    note_id: Type.Union([Id, Type.Null()]),
    actor_id: Type.Union([Id, Type.Null()]),
    user_id: Id,
    reason: Type.Union([Type.Enum(['assigned', 'review_requested', 'mentioned', 'subscribed']), Type.Null()]),
  },
  retries: mailRetries,
  run: async (call) => {
    const parts = await partsFor(call.db, call.input);
    if (parts) await call.mailer.send(await mailOf(call, call.input, parts));
  },
});

const inputOf = (id: string, { event, on, note, actor_id }: News, each: { user_id: number; reason: string | null }) => ({
  ...{ id, event, kind: on.kind.type, item_id: on.id, note_id: note?.id ?? null, actor_id },
  ...{ user_id: each.user_id, reason: each.reason as 'assigned' | null },
});

/** The row goes in the transaction that adds the jobs, so that nobody is told twice, whenever this is interrupted. */
export const sendNotifications = notify.runBy(async ({ db, input }) => {
  await db.transaction().execute(async (tx) => {
    const row = await tx.deleteFrom('notifications').where('id', '=', input.id).returningAll().executeTakeFirst();
    const news = row && (await newsOf(tx, row));
    if (!news) return;
    const recipients = await recipientsOf(tx, news);
    await sendNotification.enqueueEach(
      tx,
      recipients.map((recipient) => inputOf(input.id, news, recipient)),
    );
  });
});

/** Every night, for the issues that are due on the next day. */
export const tellOfDueIssues = job('tell_of_due_issues', {
  input: {},
  retries: 5,
  schedule: '50 0 * * *',
  run: async ({ db }) => {
    await sql`
      with today as (insert into due_notices (day) values (current_date) on conflict do nothing returning day),
      ${notifying(sql`
        select 'issue_due' as event, 'Issue' as target_type, issues.id as target_id, null::bigint as actor_id, '{}'::bigint[] as user_ids
          from today join issues on issues.due_date = today.day + 1 where issues.state = 'opened'`)} select`.execute(db);
    await sql`delete from due_notices where day < current_date - 7`.execute(db);
  },
});
