/** Sending notifications: a poll finds the recipients, and a job for each notification sends them their messages. */
import type { Logger } from 'pino';
import { Type } from 'typebox';
import { type Database, isUnavailable } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { job, type Poll } from '../../../jobs/index.ts';
import { connections, isAnswered, isRefusedAddress, type Mail, mailRetries } from '../../../mail/index.ts';
import type { JobServices } from '../../../services/index.ts';
import {
  addRecipients,
  forgetRecipients,
  markRefused,
  mostAtOnce,
  type NotificationRow,
  removeOld,
  takeWaiting,
} from './delivery_actions.ts';
import { type Addressee, addresseesAfter, partsFor, type Reading } from './message_queries.ts';
import { messageFor } from './present.ts';
import { newsOf, recipientsOf } from './recipient_queries.ts';

/**
 * Sends one message.
 * @returns why it has to be sent again; undefined if that is over
 */
async function deliver(
  { db, mailer, log }: Pick<JobServices, 'db' | 'mailer'> & { log: Logger },
  to: Addressee,
  mail: Mail,
): Promise<unknown> {
  try {
    await mailer.send(mail);
    return undefined;
  } catch (error) {
    if (!isRefusedAddress(error)) return error;
    log.warn({ err: error, user_id: to.user_id }, 'the mail server refuses the address for good');
    await markRefused(db, to.email_id);
    return undefined;
  }
}

/**
 * Sends the messages of a notification to those who are left. A server that refuses one of them gets the others; one that answers nobody is left alone until the
 * job is tried again. The recipients of a few messages are forgotten at a time, when these have been sent: as many could get theirs twice after a crash.
 */
export const sendNotification = job('send_notification', {
  input: {
    id: Type.String(),
    event: Type.String(),
    target_type: Type.String(),
    target_id: Id,
    actor_id: Type.Union([Id, Type.Null()]),
  },
  retries: mailRetries,
  run: async (call) => {
    const { db, input, signal } = call;
    let failure: unknown;
    for (let last = 0; ; ) {
      const parts = await partsFor(call, input);
      const addressees = parts ? await addresseesAfter(db, input.id, last, parts) : [];
      if (!parts) await forgetRecipients(db, input.id);
      if (!parts || addressees.length === 0) break;
      last = addressees.at(-1)!.user_id;
      const mailTo = await messageFor(call, input, parts);
      for (let index = 0; index < addressees.length; index += connections) {
        signal.throwIfAborted();
        const together = addressees.slice(index, index + connections);
        const failures = await Promise.all(together.map((to) => (to.is_told ? deliver(call, to, mailTo(to)) : undefined)));
        const settled = together.filter((_, at) => failures[at] === undefined);
        await forgetRecipients(
          db,
          input.id,
          settled.map(({ user_id }) => user_id),
        );
        failure ??= failures.find((error) => error !== undefined);
        if (failures.every((error) => error !== undefined && !isAnswered(error))) throw failure;
      }
    }
    if (failure) throw failure;
  },
});

/** Replaces notifications by their recipients and the jobs that send them their messages. */
async function replace(tx: Database, services: Omit<Reading, 'db'>, rows: readonly NotificationRow[]): Promise<void> {
  for (const row of rows) {
    const { id, target_type, target_id, actor_id } = row;
    const news = await newsOf({ ...services, db: tx }, row);
    if (news && (await addRecipients(tx, id, await recipientsOf(tx, news))))
      await sendNotification.enqueue(tx, { id, event: news.event, target_type, target_id, actor_id });
  }
}

/** For one whose recipients could not be found together with those of others. */
export const sendNotifications = job('notify', {
  input: { id: Type.String() },
  retries: 10,
  run: ({ input: { id }, ...services }) =>
    services.db.transaction().execute(async (tx) => {
      const rows = await tx.deleteFrom('notifications').where('id', '=', id).returningAll().execute();
      await replace(tx, services, rows);
    }),
});

/** Gives each of the notifications that are still waiting a job of its own: one that fails again and again then delays no others. */
function separate(db: Database, ids: readonly string[]): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const waiting = tx.updateTable('notifications').set({ is_alone: true }).where('id', 'in', ids).where('is_alone', '=', false);
    await sendNotifications.enqueueEach(tx, await waiting.returning('id').execute());
  });
}

/** The rows go in the transaction that adds the recipients and their jobs, so that nobody is told twice, whenever this is interrupted. */
export const collectNotifications: Poll = {
  name: 'collect_notifications',
  every_ms: 500,
  run: async ({ log, ...services }) => {
    const { db } = services;
    let rows: NotificationRow[] = [];
    try {
      await db.transaction().execute(async (tx) => {
        rows = await takeWaiting(tx);
        await replace(tx, services, rows);
      });
    } catch (error) {
      if (rows.length === 0 || isUnavailable(error)) throw error;
      log.warn({ err: error }, 'the recipients of some notifications could not be found; each is tried alone');
      await separate(
        db,
        rows.map(({ id }) => id),
      );
    }
    return rows.length === mostAtOnce;
  },
};

/** Every night: what has been tried for days, and what nobody has been sent for a day. */
export const removeOldNotifications = job('remove_old_notifications', {
  input: {},
  retries: 3,
  schedule: '20 3 * * *',
  run: ({ db }) => removeOld(db),
});
