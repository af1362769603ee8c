/** Sending the messages of a notification, and deleting leftovers. */
import type { Logger } from 'pino';
import { Type } from 'typebox';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { connections, isAnswered, isRefusedAddress, type Mail, mailRetries } from '../../../mail/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { readAppearance } from '../../instance/appearance/index.ts';
import { forgetRecipients, markRefused, removeOld } from './delivery_actions.ts';
import { type Addressee, addresseesAfter, partsFor } from './message_queries.ts';
import { framed, messageFor } from './present.ts';

/**
 * Sends one message.
 * @returns why it has to be sent again; undefined if it is done
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
 * Sends the messages of a notification to its remaining recipients. If the mail server refuses one message, the others
 * are still sent; if it does not respond, the job stops and is retried later. Recipients are removed a few at a time,
 * after their messages have been sent: after a crash, as many could receive theirs twice.
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
      const mailTo = framed(await messageFor(call, input, parts), await readAppearance(db));
      for (let index = 0; index < addressees.length; index += connections) {
        signal.throwIfAborted();
        const together = addressees.slice(index, index + connections);
        const failures = await Promise.all(
          together.map((to) => (to.is_told ? deliver(call, to, mailTo(to)) : undefined)),
        );
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

/** Every night: deletes messages that have been retried for days, and outdated daily counts. */
export const removeOldNotifications = job('remove_old_notifications', {
  input: {},
  retries: 3,
  schedule: '20 3 * * *',
  run: ({ db }) => removeOld(db),
});
