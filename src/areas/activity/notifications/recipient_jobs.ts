/** Determining the recipients of notifications: a poll takes waiting notifications together. */
import { Type } from 'typebox';
import { type Database, isUnavailable } from '../../../db/index.ts';
import { job, type Poll } from '../../../jobs/index.ts';
import { addRecipients, maximumAtOnce, type NotificationRow, takeWaiting } from './delivery_actions.ts';
import { sendNotification } from './message_jobs.ts';
import { newsOf, recipientsOf } from './recipient_queries.ts';
import type { Reading } from './subject_queries.ts';

/** Replaces notifications with their recipients and the jobs that send the messages. */
async function replace(tx: Database, services: Omit<Reading, 'db'>, rows: readonly NotificationRow[]): Promise<void> {
  for (const row of rows) {
    const { id, target_type, target_id, actor_id } = row;
    const news = await newsOf({ ...services, db: tx }, row);
    if (news && (await addRecipients(tx, id, await recipientsOf(tx, news))))
      await sendNotification.enqueue(tx, { id, event: news.event, target_type, target_id, actor_id });
  }
}

/** Processes one notification that could not be processed together with others. */
export const sendNotifications = job('notify', {
  input: { id: Type.String() },
  retries: 10,
  run: ({ input: { id }, ...services }) =>
    services.db.transaction().execute(async (tx) => {
      const rows = await tx.deleteFrom('notifications').where('id', '=', id).returningAll().execute();
      await replace(tx, services, rows);
    }),
});

/** Gives each of the waiting notifications a job of its own, so that one that keeps failing does not delay others. */
function separate(db: Database, ids: readonly string[]): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const waiting = tx
      .updateTable('notifications')
      .set({ is_alone: true })
      .where('id', 'in', ids)
      .where('is_alone', '=', false);
    await sendNotifications.enqueueEach(tx, await waiting.returning('id').execute());
  });
}

/**
 * The rows are deleted in the transaction that adds the recipients and their jobs, so that nobody is notified twice,
 * even after an interruption.
 */
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
    return rows.length === maximumAtOnce;
  },
};
