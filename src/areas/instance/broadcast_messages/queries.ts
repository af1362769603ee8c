/** The messages to be shown now. */
import { sql } from 'kysely';
import { keptWithRights } from '../../../access/index.ts';
import { type Database, dataLoader } from '../../../db/index.ts';
import { isActive, isPathOf } from './rules.ts';

const columns = [
  'id',
  'message',
  'starts_at',
  'ends_at',
  'color',
  'font',
  'target_access_levels',
  'target_path',
  'broadcast_type',
  'theme',
  'dismissable',
] as const;

export const messages = (db: Database) => db.selectFrom('broadcast_messages').select([...columns, 'show_in_cli']);

export type MessageRow = Awaited<ReturnType<ReturnType<typeof messages>['executeTakeFirstOrThrow']>>;

const everybody = 'everybody';

/** All messages that have not ended. */
const keptMessages = keptWithRights(
  'broadcast messages',
  (question: string) => question,
  dataLoader<string, MessageRow[]>(
    (question) => question,
    async (db) => {
      const all = messages(db).where('ends_at', '>', sql<string>`now()`);
      return new Map([[everybody, await all.orderBy('id', 'desc').execute()]]);
    },
  ),
);

/** The possible reader of messages, and the page. */
export interface Audience {
  /** The path of the page, or of the project that receives the push. */
  path: string;
  /**
   * The access level of the reader in the project or group of the page; called only for messages that are restricted to
   * some levels.
   */
  level(): Promise<number>;
}

/**
 * The messages for a reader, newest first.
 * @param version the rights version of the request; if omitted, the database is queried
 */
export async function messagesFor(
  db: Database,
  { path, level }: Audience,
  version: string | undefined,
): Promise<MessageRow[]> {
  const now = new Date();
  const here = ((await keptMessages(db, everybody, version)) ?? []).filter(
    (message) => isActive(message, now) && isPathOf(message.target_path, path),
  );
  if (here.every(({ target_access_levels }) => target_access_levels.length === 0)) return here;
  const own = await level();
  return here.filter(
    ({ target_access_levels }) => target_access_levels.length === 0 || target_access_levels.includes(own),
  );
}
