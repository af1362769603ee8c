/** Which files can be avatars, and where they are shown. Pure functions. */

/** Types by their magic numbers. SVG and HTML, which browsers execute, are never among them. */
const signatures: readonly [type: string, ...parts: [offset: number, bytes: string][]][] = [
  ['image/png', [0, '\x89PNG\r\n\x1a\n']],
  ['image/jpeg', [0, '\xff\xd8\xff']],
  ['image/gif', [0, 'GIF87a']],
  ['image/gif', [0, 'GIF89a']],
  ['image/bmp', [0, 'BM']],
  ['image/tiff', [0, 'II*\0']],
  ['image/tiff', [0, 'MM\0*']],
  ['image/vnd.microsoft.icon', [0, '\0\0\x01\0']],
  ['image/webp', [0, 'RIFF'], [8, 'WEBP']],
];

/** How much of a file is read to detect its type. */
export const sniffed_bytes = 16;

/** Larger ones are refused by field. */
export const largest_bytes = 200 * 1024;

export const tooBigText = 'is too big (should be at most 200 KiB)';
const imageTypes = [...new Set(signatures.map(([type]) => type))];
export const formatText = `file format is not supported. Please try one of the following supported formats: ${imageTypes.join(', ')}`;
/** The types in which avatars are sent. A file that is not recognized any more is sent as bytes. */
export const avatarTypes = [...imageTypes, 'application/octet-stream'];

/** The media type of an image, or undefined for anything that cannot be an avatar. */
export const imageType = (start: Buffer): string | undefined =>
  signatures.find(([, ...parts]) =>
    parts.every(([offset, bytes]) => start.toString('latin1', offset, offset + bytes.length) === bytes),
  )?.[0];

export const isImageName = (name: string): boolean => /\.(png|jpe?g|gif|bmp|tiff?|ico|webp)$/i.test(name);

/** A file name without characters that a URL would encode. */
export const urlName = (name: string): string => name.replaceAll(/[^\w.-]/g, '_');

/** What can have an avatar, as in its URL. */
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
