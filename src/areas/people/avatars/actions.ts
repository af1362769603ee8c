/** Receiving, setting and removing avatars (docs/reference/avatars.md). */
import type { Database } from '../../../db/index.ts';
import { imageType, sniffed_bytes, urlName } from '../../../foundation/images.ts';
import { File, invalid, nullable, optional, type Services, type UploadedFile } from '../../../http/index.ts';
import { storeBlob, useBlob } from '../../instance/blobs/index.ts';
import { formatText, isImageName, largest_bytes, tooBigText } from './rules.ts';

/**
 * The largest upload that is read: files above the avatar limit are refused with a reason, and files above this one
 * with 413.
 */
const received_bytes = 10 * 1024 * 1024;

/** The parameter of creation and updates. */
export const Avatar = () =>
  optional(
    nullable(
      File('avatars', received_bytes, {
        description: 'A PNG, JPEG, GIF, BMP, TIFF, ICO or WebP file of at most 200 KiB; null removes it',
      }),
    ),
  );

/** The reasons with which `receiveAvatar` refuses a file. */
export const avatarTexts = [`avatar: ${tooBigText}`, `avatar: ${formatText}`];

/** The columns of an avatar. */
export interface AvatarColumns {
  avatar: string | null;
  avatar_key: string | null;
}

/**
 * Checks and stores a file. Until `setAvatar`, it is an unused blob.
 * @param file null to remove the avatar; if omitted, nothing changes
 * @throws ApiError 400 for a file that is too large or not an image
 */
export async function receiveAvatar(
  { db, blobs }: Pick<Services, 'db' | 'blobs'>,
  file: UploadedFile | null | undefined,
): Promise<AvatarColumns | undefined> {
  if (file === undefined) return undefined;
  if (file === null) return { avatar: null, avatar_key: null };
  if (file.size_bytes > largest_bytes) throw invalid({ avatar: [tooBigText] });
  if (!isImageName(file.name) || file.size_bytes < sniffed_bytes) throw invalid({ avatar: [formatText] });
  const avatar_key = await storeBlob(db, file);
  const start = await blobs.read(avatar_key, { start: 0, end: sniffed_bytes - 1 });
  if (!start || !imageType(Buffer.concat(await start.toArray()))) throw invalid({ avatar: [formatText] });
  return { avatar: urlName(file.name), avatar_key };
}

/** The tables whose rows have avatars. */
export type AvatarTable = 'users' | 'namespaces' | 'projects' | 'topics';

/**
 * Sets or removes the avatar of a row; does nothing if no file was given.
 * @param tx the transaction of the whole change
 */
export async function setAvatar(
  tx: Database,
  table: AvatarTable,
  id: number,
  columns: AvatarColumns | undefined,
): Promise<void> {
  if (!columns) return;
  if (columns.avatar_key !== null) await useBlob(tx, columns.avatar_key);
  await tx.updateTable(table).set(columns).where('id', '=', id).execute();
}
