/** Changes of notification settings. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { invalid } from '../../../http/index.ts';
import type { Scope } from './queries.ts';
import { defaultEvents, defaultLevels } from './rules.ts';

export interface Changes {
  level?: string;
  /** A confirmed address of the user; only for the global scope. */
  notification_email?: string;
  /** Those to turn on, and those to turn off. */
  on: readonly string[];
  off: readonly string[];
}

export const foreignEmailText = 'must be an email you have verified';

/**
 * @returns the row of the address, or null for the primary one, which may change later
 * @throws ApiError 400 if it is not a confirmed address of the user
 */
async function emailIdOf(tx: Database, user_id: number, email: string): Promise<number | null> {
  const own = await tx
    .selectFrom('emails')
    .select(['id', 'is_primary'])
    .where('user_id', '=', user_id)
    .where('email', '=', email)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst();
  if (!own) throw invalid({ notification_email: [foreignEmailText] });
  return own.is_primary ? null : own.id;
}

/**
 * Changes what a user wants to be notified of.
 * @throws ApiError 400 for an address that is not a confirmed one of the user; nothing is changed then
 */
export const changeSetting = (db: Database, user_id: number, { kind, group_id, project_id }: Scope, changes: Changes) =>
  db.transaction().execute(async (tx) => {
    const { level, notification_email, on, off } = changes;
    const email_id = notification_email === undefined ? undefined : await emailIdOf(tx, user_id, notification_email);
    const turned = (events: unknown) =>
      sql<
        string[]
      >`array(select unnest(${events}::text[]) union select unnest(${on}::text[]) except select unnest(${off}::text[]) order by 1)`;
    await tx
      .insertInto('notification_settings')
      .values({ user_id, group_id, project_id, level: level ?? defaultLevels[kind], email_id, events: turned(defaultEvents) })
      .onConflict((own) =>
        own.constraint('notification_settings_key').doUpdateSet({
          ...(level === undefined ? {} : { level }),
          ...(email_id === undefined ? {} : { email_id }),
          events: turned(sql.ref('notification_settings.events')),
          updated_at: sql`now()`,
        }),
      )
      .execute();
  });
