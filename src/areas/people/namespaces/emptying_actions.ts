/** Emptying projects that are about to be deleted: what they can have millions of goes in batches before, so that the deletion itself takes no minutes. */
import { type RawBuilder, sql } from 'kysely';
import type { JobServices } from '../../../services/index.ts';

/**
 * Deletes what projects have very many of. It stops when they are not to be deleted any more, and between two statements when the process does.
 * @param which a predicate on rows of `projects`, which says that they are to be deleted
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
