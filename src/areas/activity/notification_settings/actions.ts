/** Changes of notification settings. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { invalid } from '../../../http/index.ts';
import type { Scope } from './queries.ts';
import { defaultEvents, defaultLevels } from './rules.ts';

export interface Changes {
  level?: string;
  /** A confirmed address of the user; not for projects. Null to inherit the address of the enclosing scope. */
  notification_email?: string | null;
  /** The events to turn on, and the events to turn off. */
  on: readonly string[];
  off: readonly string[];
}

export const foreignEmailText = 'must be an email you have verified';

/**
 * The address is used from now on, even if delivery to it has failed before.
 * @returns the row of the address; null for the primary one in the global scope, since that may change later
 * @throws ApiError 400 if it is not a confirmed address of the user
 */
async function emailIdOf(
  tx: Database,
  user_id: number,
  kind: Scope['kind'],
  email: string | null,
): Promise<number | null> {
  if (email === null) return null;
  const own = await tx
    .updateTable('emails')
    .set({ refused_at: null })
    .where('user_id', '=', user_id)
    .where('email', '=', email)
    .where('confirmed_at', 'is not', null)
    .returning(['id', 'is_primary'])
    .executeTakeFirst();
  if (!own) throw invalid({ notification_email: [foreignEmailText] });
  return own.is_primary && kind === 'global' ? null : own.id;
}

/**
 * Changes the notification settings of a user.
 * @throws ApiError 400 for an address that is not a confirmed one of the user; then nothing changes
 */
export const changeSetting = (db: Database, user_id: number, { kind, group_id, project_id }: Scope, changes: Changes) =>
  db.transaction().execute(async (tx) => {
    const { level, notification_email, on, off } = changes;
    const email_id =
      notification_email === undefined ? undefined : await emailIdOf(tx, user_id, kind, notification_email);
    const turned = (events: unknown) =>
      sql<
        string[]
      >`array(select unnest(${events}::text[]) union select unnest(${on}::text[]) except select unnest(${off}::text[]) order by 1)`;
    await tx
      .insertInto('notification_settings')
      .values({
        user_id,
        group_id,
        project_id,
        level: level ?? defaultLevels[kind],
        email_id,
        events: turned(defaultEvents),
      })
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
