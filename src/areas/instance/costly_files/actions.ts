/**
 * Files of users that are not read again: reading them was too costly, or it is costly each time and fails. The record
 * applies wherever the same content is found.
 */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';

/**
 * The recorded reasons for contents that are not read again.
 * @param contents each with its reader, as in `source map <digest>`
 * @returns the reasons, readable for users, by content
 */
export async function costlyAmong(db: Database, contents: readonly string[]): Promise<Map<string, string>> {
  if (contents.length === 0) return new Map();
  const { rows } = await sql<{ content: string; error: string }>`
    select content, error from costly_files where content = any(${ofAnyLength(contents, 'text[]')})`.execute(db);
  return new Map(rows.map(({ content, error }) => [content, error]));
}

/**
 * Records that a content is not read again.
 * @param error the reason, readable for users
 */
export async function noteCostly(db: Database, content: string, error: string): Promise<void> {
  await db
    .insertInto('costly_files')
    .values({ content, error })
    .onConflict((conflict) => conflict.column('content').doNothing())
    .execute();
}
