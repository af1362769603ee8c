/** Redirects: the former paths of projects and groups. */
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/index.ts';

/**
 * The project or group that had a full path before.
 * @returns its ID
 */
export async function movedFrom(db: Kysely<DB>, kind: 'project' | 'group', path: string): Promise<number | undefined> {
  // PostgreSQL accepts no NUL in texts.
  if (path.includes('\0')) return undefined;
  const target = sql.ref(kind === 'project' ? 'project_id' : 'namespace_id');
  const { rows } = await sql<{ id: number | null }>`select ${target} as id from redirects where path = ${path}`.execute(
    db,
  );
  return rows[0]?.id ?? undefined;
}
