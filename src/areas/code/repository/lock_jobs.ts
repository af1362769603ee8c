/** Removing the locks on refs that git processes left in all repositories when they were killed with the server. */
import { Type } from 'typebox';
import type { Database } from '../../../db/index.ts';
import { type RepositoryOwner, removeStaleLocks, repositoryOf } from '../../../git/index.ts';
import { job } from '../../../jobs/index.ts';

/** So many are listed together. */
const at_once = 1_000;

async function* owners(db: Database): AsyncGenerator<RepositoryOwner> {
  for (const table of ['projects', 'snippets'] as const)
    for (let after = 0; ; ) {
      const query = db.selectFrom(table).select(['id', 'storage']).where('id', '>', after).orderBy('id').limit(at_once);
      const rows = await query.execute();
      for (const { id, storage } of rows) yield table === 'projects' ? { id, storage } : { snippet_id: id, storage };
      if (rows.length < at_once) break;
      after = rows.at(-1)!.id;
    }
}

/**
 * Enqueued by a server that starts alone on its storages: what holds a lock from before its start has ended with the server before. Nothing records which
 * repositories have one, and looking at one takes about a millisecond, so all of them are looked at in the background. What meets a lock meanwhile is tried again.
 */
export const removeLeftLocks = job('remove_left_locks', {
  input: { before: Type.String() },
  retries: 3,
  run: async ({ input: { before }, db, storages, signal, log }) => {
    let removed = 0;
    for await (const owner of owners(db)) {
      signal.throwIfAborted();
      if (Object.hasOwn(storages, owner.storage))
        removed += await removeStaleLocks(repositoryOf({ storages }, owner), new Date(before));
    }
    if (removed > 0) log.warn({ removed }, 'removed locks that killed git processes had left');
  },
});
