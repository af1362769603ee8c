/** Deletes blobs that no row refers to. */
import { sql } from 'kysely';
import { job } from '../../../jobs/index.ts';
import { removeUnusedBlob } from './actions.ts';

/** An upload writes its row within seconds of the time in its key. */
const spared = sql`interval '1 day'`;
const perRun = 10_000;

/** Every night: deletes blobs without a row. */
export const removeUnusedBlobs = job('remove_unused_blobs', {
  input: {},
  retries: 0,
  schedule: '50 3 * * *',
  run: async ({ db, blobs, signal, log }) => {
    const unused = await db
      .selectFrom('unused_blobs')
      .select('key')
      .where(sql<boolean>`since < now() - ${spared}`)
      .orderBy('since')
      .limit(perRun)
      .execute();
    let removed = 0;
    for (const { key } of unused) {
      signal.throwIfAborted();
      if (await removeUnusedBlob({ db, blobs }, key)) removed++;
    }
    if (removed > 0) log.info({ removed }, 'unused blobs were deleted');
  },
});
