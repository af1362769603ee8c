/** Which files can be avatars, and the URLs of avatars. Pure functions. */

import { imageTypes } from '../../../foundation/images.ts';

/** Larger files are refused with a reason by field. */
export const largest_bytes = 200 * 1024;

export const tooBigText = 'is too big (should be at most 200 KiB)';
export const formatText = `file format is not supported. Please try one of the following supported formats: ${imageTypes.join(', ')}`;
/** The content types of avatars. A file whose type is no longer recognized is sent as bytes. */
export const avatarTypes = [...imageTypes, 'application/octet-stream'];

export const isImageName = (name: string): boolean => /\.(png|jpe?g|gif|bmp|tiff?|ico|webp)$/i.test(name);

/** The kinds of records with an avatar, as in its URL. */
export type AvatarKind = 'user' | 'group' | 'project' | 'projects/topic';

/** The path of an avatar on the server. */
export const avatarPath = (kind: AvatarKind, id: number | string, name: string): string =>
  `/uploads/-/system/${kind}/avatar/${id}/${name}`;

/**
 * @param url the external address of the server
 * @param avatar the file name; null without an avatar
 */
export const avatarUrl = (
  url: string,
  kind: AvatarKind,
  { id, avatar }: { id: number; avatar: string | null },
): string | null => (avatar === null ? null : `${url}${avatarPath(kind, id, avatar)}`);
