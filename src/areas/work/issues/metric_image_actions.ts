/** Metric images of incidents: rows and their blobs (docs/reference/issues.md). */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { BlobKey } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import type { UploadedFile } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';

const columns = ['id', 'filename', 'url', 'url_text', 'created_at'] as const;

/** The images of an issue. */
export const imagesOf = (db: Database, issue_id: number) =>
  db.selectFrom('issue_metric_images').select(columns).where('issue_id', '=', issue_id);

export interface ImageTexts {
  /** A link to more information. */
  url?: string | null | undefined;
  url_text?: string | null | undefined;
}

/**
 * Stores an image. Its key is first recorded as unused, so that a crash never leaves a blob without a row.
 * @returns the row
 */
export async function addImage(db: Database, issue_id: number, file: UploadedFile, { url, url_text }: ImageTexts) {
  const blob_key: BlobKey = `metric_images/${randomBytes(24).toString('hex')}`;
  await db.insertInto('unused_blobs').values({ key: blob_key }).execute();
  await file.keep(blob_key);
  return db.transaction().execute(async (tx) => {
    await tx.deleteFrom('unused_blobs').where('key', '=', blob_key).execute();
    const { name: filename, size_bytes } = file;
    return tx
      .insertInto('issue_metric_images')
      .values({ issue_id, filename, blob_key, size_bytes, url: url ?? null, url_text: url_text ?? null })
      .returning(columns)
      .executeTakeFirstOrThrow();
  });
}

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
    for (const { key } of unused) {
      signal.throwIfAborted();
      await blobs.remove(key as BlobKey);
      await db.deleteFrom('unused_blobs').where('key', '=', key).execute();
    }
    if (unused.length > 0) log.info({ removed: unused.length }, 'unused blobs were deleted');
  },
});
