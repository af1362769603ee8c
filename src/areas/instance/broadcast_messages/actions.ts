/** Adding broadcast messages. */
import type { Insertable } from 'kysely';
import { type Database, type DB, takeTurn } from '../../../db/index.ts';
import { invalid } from '../../../http/index.ts';
import { type MessageRow, messages } from './queries.ts';

const maximumMessages = 1000;
export const tooManyText = `Maximum number of broadcast messages (${maximumMessages}) exceeded`;

/**
 * Adds a message.
 * @throws ApiError 400 if the maximum number of messages is reached
 */
export const addMessage = (db: Database, given: Insertable<DB['broadcast_messages']>): Promise<MessageRow> =>
  db.transaction().execute(async (tx) => {
    await takeTurn(tx, 'broadcast messages');
    const { count } = await tx
      .selectFrom('broadcast_messages')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    if (count >= maximumMessages) throw invalid({ base: [tooManyText] });
    const added = tx.insertInto('broadcast_messages').values(given).returning('id');
    const { id } = await added.executeTakeFirstOrThrow();
    return messages(tx).where('id', '=', id).executeTakeFirstOrThrow();
  });
