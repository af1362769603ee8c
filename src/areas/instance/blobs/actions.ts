/**
 * Blobs and the rows that refer to them: neither a crash nor a refusal leaves a blob without a row that is never
 * deleted.
 */
import type { BlobKey, ReceivedBlob } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Services, UploadedFile } from '../../../http/index.ts';

/**
 * Stores a file under its key, which stays recorded as unused until `useBlob`.
 * @returns the key
 */
export async function storeBlob(db: Database, file: UploadedFile | ReceivedBlob): Promise<BlobKey> {
  await db.insertInto('unused_blobs').values({ key: file.key }).execute();
  await file.keep();
  return file.key;
}

/**
 * Records that a row refers to a blob.
 * @param tx the transaction that adds the row
 */
export async function useBlob(tx: Database, key: string): Promise<void> {
  await tx.deleteFrom('unused_blobs').where('key', '=', key).execute();
}

/**
 * Deletes a blob that is recorded as unused, unless a row refers to it after all: uploads share their blob with their
 * copies. After a crash before the commit it is still recorded, and deleted later.
 * @returns whether it was deleted
 */
export function removeUnusedBlob({ db, blobs }: Pick<Services, 'db' | 'blobs'>, key: string): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    // Waits for transactions that delete or copy the rows, and reads again in another statement, which sees their
    // committed changes.
    const sharing = tx.selectFrom('uploads').select('id').where('blob_key', '=', key);
    await sharing.forKeyShare().execute();
    const row = await sharing.limit(1).executeTakeFirst();
    const unused = await tx.deleteFrom('unused_blobs').where('key', '=', key).returning('key').executeTakeFirst();
    if (row || !unused) return false;
    await blobs.remove(key as BlobKey);
    return true;
  });
}

/** The bytes of a file that is not stored as a blob. */
export async function bytesOf({ db, blobs }: Pick<Services, 'db' | 'blobs'>, file: UploadedFile): Promise<Buffer> {
  const key = await storeBlob(db, file);
  try {
    const bytes = Buffer.allocUnsafe(file.size_bytes);
    let filled = 0;
    for await (const part of (await blobs.read(key)) as AsyncIterable<Buffer>) filled += part.copy(bytes, filled);
    return bytes;
  } finally {
    await removeUnusedBlob({ db, blobs }, key);
  }
}
