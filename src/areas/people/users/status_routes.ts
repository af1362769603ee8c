/** Statuses of users. */
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { anyone, signedIn } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  checked,
  get,
  IdOrName,
  nullable,
  one,
  optional,
  patch,
  put,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { escapeHtml } from '../../../texts/index.ts';
import { userIdNamed } from './queries.ts';
import { atMost, emojiReasons } from './rules.ts';

const UserStatus = resource('UserStatus', {
  emoji: nullable(Type.String()),
  message: nullable(Type.String()),
  availability: nullable(Type.Enum(['not_set', 'busy'])),
  message_html: nullable(Type.String()),
  clear_status_at: nullable(Timestamp),
});

const clearable = (reasons: (value: string) => string[]) =>
  optional(checked(nullable(Type.String()), (value) => (value === null ? [] : reasons(value))));

/** The intervals after which a status is cleared, in the form of PostgreSQL. */
const intervals = {
  '30_minutes': '30 minutes',
  '3_hours': '3 hours',
  '8_hours': '8 hours',
  '1_day': '1 day',
  '3_days': '3 days',
  '7_days': '7 days',
  '30_days': '30 days',
} as const;

const input = {
  emoji: clearable(emojiReasons),
  message: clearable(atMost(100)),
  availability: optional(nullable(Type.Enum(['not_set', 'busy']))),
  clear_status_after: optional(nullable(Type.Enum(Object.keys(intervals) as (keyof typeof intervals)[]))),
};

interface Changes {
  emoji?: string | null;
  message?: string | null;
  availability?: 'not_set' | 'busy' | null;
  clear_status_after?: keyof typeof intervals | null;
}

async function statusOf(db: Database, user_id: number): Promise<Static<typeof UserStatus>> {
  const row = await db
    .selectFrom('user_statuses')
    .select(['emoji', 'message', 'availability', 'clear_status_at'])
    .where('user_id', '=', user_id)
    .where((q) => q.or([q('clear_status_at', 'is', null), q('clear_status_at', '>', sql<string>`now()`)]))
    .executeTakeFirst();
  if (!row) return { emoji: null, message: null, availability: null, message_html: null, clear_status_at: null };
  const availability = row.availability === 'busy' ? 'busy' : 'not_set';
  return { ...row, availability, message_html: row.message === null ? null : escapeHtml(row.message) };
}

/** Converts parameters to columns. */
function columnsOf({ emoji, message, availability, clear_status_after: after }: Changes) {
  return {
    ...(emoji === undefined ? {} : { emoji: emoji || 'speech_balloon' }),
    ...(message === undefined ? {} : { message: message || null }),
    ...(availability === undefined ? {} : { availability: availability ?? 'not_set' }),
    ...(after === undefined ? {} : { clear_status_at: after && sql<string>`now() + ${intervals[after]}::interval` }),
  };
}

async function writeStatus(db: Database, user_id: number, changes: Changes): Promise<void> {
  const columns = columnsOf(changes);
  await db
    .insertInto('user_statuses')
    .values({ user_id, ...columns })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(columns))
    .execute();
}

const deleteStatus = (db: Database, user_id: number) => db.deleteFrom('user_statuses').where('user_id', '=', user_id);

export const userStatusRoutes = [
  get('/user/status', {
    operation: 'getOwnStatus',
    summary: "Show the current user's status",
    access: signedIn,
    scopes: ['read_user'],
    returns: one(UserStatus),
    handle: ({ db, caller }) => statusOf(db, caller.id),
  }),
  get('/users/:id/status', {
    operation: 'getUserStatus',
    summary: 'Show the status of a user',
    access: anyone,
    scopes: ['read_user'],
    input: { id: IdOrName('ID or username') },
    returns: one(UserStatus),
    refusals: { 404: '404 User Not Found' },
    handle: async ({ db, input }) => statusOf(db, await userIdNamed(db, input.id)),
  }),
  put('/user/status', {
    operation: 'setOwnStatus',
    summary: "Set the current user's status; omitted parameters are cleared",
    access: signedIn,
    input,
    returns: one(UserStatus),
    handle: async ({
      db,
      caller,
      input: { emoji = null, message = null, availability = null, clear_status_after = null },
    }) => {
      if (emoji || message || availability || clear_status_after)
        await writeStatus(db, caller.id, { emoji, message, availability, clear_status_after });
      else await deleteStatus(db, caller.id).execute();
      return statusOf(db, caller.id);
    },
  }),
  patch('/user/status', {
    operation: 'updateOwnStatus',
    summary: "Update the current user's status; omitted parameters stay",
    access: signedIn,
    input,
    returns: one(UserStatus),
    handle: async ({ db, caller, input }) => {
      if (Object.keys(input).length === 0) return statusOf(db, caller.id);
      await db.transaction().execute(async (tx) => {
        // An expired status must not reappear with the change.
        await deleteStatus(tx, caller.id).where('clear_status_at', '<=', sql<string>`now()`).execute();
        await writeStatus(tx, caller.id, input);
      });
      return statusOf(db, caller.id);
    },
  }),
];
