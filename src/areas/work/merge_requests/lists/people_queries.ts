/** Determines who can be assigned to merge requests, and review them. */
import { sql } from 'kysely';
import { isUsableAccount, mergeRequestKind, type Project } from '../../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../../db/index.ts';

/**
 * The given users who may read the merge requests of a project, in the same order.
 * @param ids ids of users, some of which may not exist
 */
export async function readersAmong(
  db: Database,
  { id }: Pick<Project, 'id'>,
  ids: readonly number[],
): Promise<number[]> {
  const wanted = [...new Set(ids)].filter((each) => each > 0);
  if (wanted.length === 0) return [];
  const { rows } = await sql<{ id: number }>`
    select users.id from users
     where users.id = any(${ofAnyLength(wanted, 'bigint[]')}) and users.state = 'active' and ${isUsableAccount}
       and exists (select from projects where projects.id = ${id} and ${mergeRequestKind.isRead})`.execute(db);
  const known = new Set(rows.map((row) => row.id));
  return wanted.filter((each) => known.has(each));
}
