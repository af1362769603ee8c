/** What is read of reactions. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { userBasicJson } from '../../people/users/index.ts';

/** What a reaction is to. */
export type Awardable = { issue_id: number } | { epic_id: number } | { note_id: number };

/** The column that says what a reaction is to, and its value. */
export function columnOf(awardable: Awardable): readonly ['issue_id' | 'epic_id' | 'note_id', number] {
  if ('issue_id' in awardable) return ['issue_id', awardable.issue_id];
  return 'epic_id' in awardable ? ['epic_id', awardable.epic_id] : ['note_id', awardable.note_id];
}

/** The reactions to one thing, with everything that replies say of them. */
export function awardRows(db: Database, awardable: Awardable) {
  const [column, id] = columnOf(awardable);
  return db
    .selectFrom('award_emoji')
    .innerJoin('users', 'users.id', 'award_emoji.user_id')
    .select(['award_emoji.id', 'award_emoji.name', 'award_emoji.issue_id', 'award_emoji.epic_id', 'award_emoji.note_id'])
    .select(['award_emoji.user_id', 'award_emoji.created_at', 'award_emoji.updated_at'])
    .select(userBasicJson('users').as('user'))
    .where(`award_emoji.${column}`, '=', id);
}

/** Holds what is reacted to until the end of the transaction, so that nobody votes for and against it at the same time. */
export async function holdAwardable(tx: Database, awardable: Awardable): Promise<void> {
  const [column, id] = columnOf(awardable);
  const table = sql.table({ issue_id: 'issues', epic_id: 'epics', note_id: 'notes' }[column]);
  await sql`select from ${table} where id = ${id} for no key update`.execute(tx);
}
