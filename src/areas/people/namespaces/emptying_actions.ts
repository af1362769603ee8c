/**
 * Emptying projects that are about to be deleted: contents that may number in the millions are deleted beforehand in
 * batches, so that the deletion itself is fast.
 */
import { type RawBuilder, sql } from 'kysely';
import type { JobServices } from '../../../services/index.ts';

/**
 * Deletes the most numerous contents of projects. It stops if the projects are no longer to be deleted, and between two
 * statements if the process stops.
 * @param which a predicate on rows of `projects` that are to be deleted
 */
export async function emptyProjects(
  { db, emptying, signal }: Pick<JobServices, 'db' | 'emptying'> & { signal: AbortSignal },
  which: RawBuilder<unknown>,
): Promise<void> {
  const projects = sql`array(select projects.id from projects where ${which})`;
  for (const statement of emptying.flatMap(({ batches }) => batches(projects)))
    for (let count = 1n; count > 0n; ) {
      signal.throwIfAborted();
      count = (await statement.execute(db)).numAffectedRows ?? 0n;
    }
}
