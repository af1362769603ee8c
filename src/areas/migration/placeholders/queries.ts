/** Placeholders of a group, and who can take them over. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** The placeholders of a top-level group. */
export const placeholdersOf = (db: Database, group_id: number) =>
  db
    .selectFrom('placeholders')
    .select([
      'user_id',
      'source_host',
      'source_user_id',
      'source_username',
      'source_name',
      'proposed_user_id',
      'assignee_id',
    ])
    .where('group_id', '=', group_id);

/** Tables that describe the placeholder itself: their rows are not contributions. */
export const ownTables: readonly string[] = ['placeholders'];

/** Whether a user is a person whose account is active. */
export async function isActivePerson(db: Database, user_id: number): Promise<boolean> {
  const { rows } = await sql`
    select from users where id = ${user_id} and user_type = 'human' and state = 'active'`.execute(db);
  return rows.length > 0;
}
