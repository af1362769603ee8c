/** The paths of projects, for replies that have their ids only. */
import { type Database, isAmong } from '../../../db/index.ts';

/** Full paths of projects, by id. */
export type ProjectPaths = ReadonlyMap<unknown, string>;

/** @param ids of projects that the caller may read; an id may be given several times */
export async function projectPaths(db: Database, ids: readonly number[]): Promise<ProjectPaths> {
  if (ids.length === 0) return new Map();
  const found = await db
    .selectFrom('projects')
    .select(['id', 'full_path'])
    .where(isAmong('id', ids, 'bigint[]'))
    .execute();
  return new Map(found.map(({ id, full_path }) => [id, full_path]));
}
