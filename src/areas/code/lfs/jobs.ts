/** Deletes large files that no project refers to any more. */
import { sql } from 'kysely';

import { job } from '../../../jobs/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { blobOf } from './queries.ts';

/** An upload completes within seconds of the time in its row. */
const spared = sql`interval '1 day'`;
const abandonedReception_ms = 24 * 3600 * 1000;
const perQuery = 1000;

const isUnused = sql<boolean>`last_upload_at < now() - ${spared}
  and not exists (select from lfs_objects_projects where lfs_object_id = lfs_objects.id)`;

/**
 * Deletes an object unless a project has acquired it meanwhile; the lock on the row prevents that from then on. After a crash before the commit, the row remains
 * without its blob; no project refers to it, and the next run deletes it.
 */
async function removeUnused({ db, blobs }: JobServices, { id, oid }: { id: number; oid: string }): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const locked = await tx
      .selectFrom('lfs_objects')
      .select('id')
      .where('id', '=', id)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (!locked) return false;
    // In a statement after the lock, because only that sees rows committed before it.
    const removed = await tx
      .deleteFrom('lfs_objects')
      .where('id', '=', id)
      .where(isUnused)
      .returning('id')
      .executeTakeFirst();
    if (removed) await blobs.remove(blobOf(oid));
    return removed !== undefined;
  });
}

export const removeUnusedObjects = job('remove_unused_lfs_objects', {
  input: {},
  retries: 0,
  schedule: '40 3 * * *',
  run: async ({ signal, log, ...services }) => {
    let [after, removed] = [0, 0];
    for (;;) {
      const rows = await services.db
        .selectFrom('lfs_objects')
        .select(['id', 'oid'])
        .where('id', '>', after)
        .where(isUnused)
        .orderBy('id')
        .limit(perQuery)
        .execute();
      for (const row of rows) {
        signal.throwIfAborted();
        if (await removeUnused(services, row)) removed++;
      }
      if (rows.length < perQuery) break;
      after = rows.at(-1)!.id;
    }
    const receptions = await services.blobs.sweep(abandonedReception_ms);
    if (removed + receptions > 0) log.info({ removed, receptions }, 'unused large files were deleted');
  },
});
