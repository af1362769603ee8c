/** What has moved: the paths that projects and groups had before are still known. */
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/index.ts';

/**
 * What stood at a full path before it got another one.
 * @returns its id
 */
export async function movedFrom(db: Kysely<DB>, kind: 'project' | 'group', path: string): Promise<number | undefined> {
  // PostgreSQL knows no text with NUL.
  if (path.includes('\0')) return undefined;
  // PostgreSQL knows no text with NUL.
  if (path.includes('\0')) return undefined;
  const target = sql.ref(kind === 'project' ? 'project_id' : 'namespace_id');
  const { rows } = await sql<{ id: number | null }>`select ${target} as id from redirects where path = ${path}`.execute(db);
  return rows[0]?.id ?? undefined;
}
