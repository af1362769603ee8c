/** Removes the locks on refs that git processes left in all repositories when they were killed with the server. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { removeStaleLocks } from '../../../../git/index.ts';
import { job } from '../../../../jobs/index.ts';
import type { Owner, RepositoryKind, RepositoryServices } from '../../../../services/index.ts';
import { ownedRepository } from '../git.ts';

/** The number of repositories listed at once. */
const at_once = 1_000;

async function* allOwners({
  db,
  repositories,
}: RepositoryServices): AsyncGenerator<{ kind: RepositoryKind; owner: Owner }> {
  for (const kind of repositories.kinds)
    for (let after = 0; ; ) {
      const { rows } = await sql<Owner>`
        select id, storage from ${sql.table(kind.table)} where id > ${after} order by id limit ${at_once}`.execute(db);
      for (const owner of rows) yield { kind, owner };
      if (rows.length < at_once) break;
      after = rows.at(-1)!.id;
    }
}

/**
 * Enqueued by a server that starts alone on its storages: the holder of any lock from before its start has died with the previous server. Locked repositories are not recorded, and
 * checking one takes about a millisecond, so all of them are checked in the background. Operations that meet a lock meanwhile are retried.
 */
export const removeLeftLocks = job('remove_left_locks', {
  input: { before: Type.String() },
  retries: 3,
  run: async ({ input: { before }, signal, log, ...services }) => {
    let removed = 0;
    for await (const owned of allOwners(services)) {
      signal.throwIfAborted();
      if (Object.hasOwn(services.storages, owned.owner.storage))
        removed += await removeStaleLocks(ownedRepository(services, owned), new Date(before));
    }
    if (removed > 0) log.warn({ removed }, 'removed locks that killed git processes had left');
  },
});
