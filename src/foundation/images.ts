/** Recognises images that browsers show and do not execute: never SVG or HTML. Pure functions. */

/** Types by their magic numbers. */
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

export const imageTypes: readonly string[] = [...new Set(signatures.map(([type]) => type))];

/** The media type of a picture, or undefined for anything else. */
export const imageType = (start: Buffer): string | undefined =>
  signatures.find(([, ...parts]) =>
    parts.every(([offset, bytes]) => start.toString('latin1', offset, offset + bytes.length) === bytes),
  )?.[0];

/** A file name without characters that a URL would encode. */
export const urlName = (name: string): string => name.replaceAll(/[^\w.-]/g, '_');
