/** Queries for notification settings. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { defaultEvents, defaultLevels } from './rules.ts';

/** The scope of a setting: global, or one group or project. */
export interface Scope {
  kind: 'global' | 'group' | 'project';
  group_id: number | null;
  project_id: number | null;
}

/** A user's settings for a scope, or its defaults, with the address for mail. */
export function settingOf(db: Database, user_id: number, { kind, group_id, project_id }: Scope) {
  return db
    .selectFrom('users as u')
    .leftJoin('notification_settings as s', (join) =>
      join
        .onRef('s.user_id', '=', 'u.id')
        .on(
          sql<boolean>`s.group_id is not distinct from ${group_id} and s.project_id is not distinct from ${project_id}`,
        ),
    )
    .leftJoin('emails as e', 'e.id', 's.email_id')
    .select([
      sql<string>`coalesce(s.level, ${defaultLevels[kind]})`.as('level'),
      sql<string[]>`coalesce(s.events, ${defaultEvents})`.as('events'),
      sql<string | null>`coalesce(e.email, case when ${kind} = 'global' then u.email end)`.as('notification_email'),
    ])
    .where('u.id', '=', user_id)
    .executeTakeFirstOrThrow();
}
