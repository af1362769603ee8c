/** The pictures of the instance, and their URLs (docs/reference/appearance.md). Pure functions. */

export const pictureKinds = ['logo', 'pwa_icon', 'header_logo', 'favicon'] as const;
export type PictureKind = (typeof pictureKinds)[number];

/** The path of a picture on the server. */
export const picturePath = (kind: string, name: string): string => `/uploads/-/system/appearance/${kind}/1/${name}`;

/** Larger files are refused with a reason by field. */
export const largest_bytes = 1024 * 1024;
export const tooBigText = 'is too big (should be at most 1 MiB)';
export const formatText = 'is not a PNG, JPEG, GIF, WebP or ICO picture';

const shownTypes: ReadonlySet<string | undefined> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/vnd.microsoft.icon',
]);

/** Whether pictures of a type are shown: every browser supports these types. */
export const isShownType = (type: string | undefined): boolean => shownTypes.has(type);
