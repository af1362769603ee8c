/** Receiving pictures of the instance. */
import type { BlobKey } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import { imageType, sniffed_bytes, urlName } from '../../../foundation/images.ts';
import { invalid, type Services, type UploadedFile } from '../../../http/index.ts';
import { storeBlob, useBlob } from '../blobs/actions.ts';
import { formatText, isShownType, largest_bytes, type PictureKind, tooBigText } from './rules.ts';

/** A received picture; null to remove it. */
export type Received = readonly [kind: PictureKind, picture: { name: string; blob_key: BlobKey } | null];

/**
 * Checks and stores a file. Until `setPicture`, it is an unused blob.
 * @throws ApiError 400 for a file that is too large or not a picture
 */
export async function receivePicture(
  { db, blobs }: Pick<Services, 'db' | 'blobs'>,
  kind: PictureKind,
  file: UploadedFile | null,
): Promise<Received> {
  if (file === null) return [kind, null];
  if (file.size_bytes > largest_bytes) throw invalid({ [kind]: [tooBigText] });
  if (file.size_bytes < sniffed_bytes) throw invalid({ [kind]: [formatText] });
  const blob_key = await storeBlob(db, file);
  const start = await blobs.read(blob_key, { start: 0, end: sniffed_bytes - 1 });
  if (!start || !isShownType(imageType(Buffer.concat(await start.toArray())))) throw invalid({ [kind]: [formatText] });
  return [kind, { name: urlName(file.name), blob_key }];
}

/** Sets or removes a picture. @param tx the transaction of the whole change */
export async function setPicture(tx: Database, [kind, picture]: Received): Promise<void> {
  if (picture === null) {
    await tx.deleteFrom('appearance_pictures').where('kind', '=', kind).execute();
    return;
  }
  await useBlob(tx, picture.blob_key);
  await tx
    .insertInto('appearance_pictures')
    .values({ kind, ...picture })
    .onConflict((conflict) => conflict.column('kind').doUpdateSet(picture))
    .execute();
}
