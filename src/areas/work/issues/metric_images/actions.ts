/** Metric images of incidents: rows and their blobs (docs/reference/issues.md). */
import type { Database } from '../../../../db/index.ts';
import type { UploadedFile } from '../../../../http/index.ts';
import { storeBlob, useBlob } from '../../../instance/blobs/index.ts';

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
 * Stores an image.
 * @returns the row
 */
export async function addImage(db: Database, issue_id: number, file: UploadedFile, { url, url_text }: ImageTexts) {
  const blob_key = await storeBlob(db, file);
  return db.transaction().execute(async (tx) => {
    await useBlob(tx, blob_key);
    const { name: filename, size_bytes } = file;
    return tx
      .insertInto('issue_metric_images')
      .values({ issue_id, filename, blob_key, size_bytes, url: url ?? null, url_text: url_text ?? null })
      .returning(columns)
      .executeTakeFirstOrThrow();
  });
}
