/** Files that texts refer to: their media types by extension, and how Markdown shows them. */
import path from 'node:path';

/** Files that Markdown shows in the text, by extension. */
const embeddable: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  bmp: 'image/bmp',
  tiff: 'image/tiff',
  ico: 'image/vnd.microsoft.icon',
  webp: 'image/webp',
  avif: 'image/avif',
  mp4: 'video/mp4',
  m4v: 'video/x-m4v',
  mov: 'video/quicktime',
  webm: 'video/webm',
  ogv: 'video/ogg',
  mp3: 'audio/mpeg',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  spx: 'audio/ogg',
  wav: 'audio/wav',
};

/** An image that browsers execute: Markdown shows it, but it is never opened inline. */
const svg = 'image/svg+xml';

const otherTypes: Record<string, string> = {
  svg,
  pdf: 'application/pdf',
  txt: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  htm: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  json: 'application/json',
  xml: 'application/xml',
  yml: 'application/yaml',
  yaml: 'application/yaml',
  zip: 'application/zip',
  gz: 'application/gzip',
  tar: 'application/x-tar',
  '7z': 'application/x-7z-compressed',
  rtf: 'application/rtf',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
};

const bytes = 'application/octet-stream';
const types: ReadonlyMap<string, string> = new Map(Object.entries({ ...embeddable, ...otherTypes }));

/** The media types that uploads are sent with. */
export const mediaTypes = [...new Set([...types.values(), bytes])];

const extensionOf = (filename: string) => path.extname(filename).slice(1).toLowerCase();

/** The media type by the extension. Replies are sent with `nosniff`, so that browsers use it. */
export const mediaType = (filename: string): string => types.get(extensionOf(filename)) ?? bytes;

/** Whether a file is Markdown by its name. */
export const isMarkdownFile = (name: string): boolean => /\.(md|markdown|mdown|mkd)$/i.test(name);

/** Whether the extension of a file determines its type, other than a text of a wiki. */
export const hasMediaType = (filename: string): boolean =>
  types.has(extensionOf(filename)) && !isMarkdownFile(filename);

const isMedia = (filename: string) => Object.hasOwn(embeddable, extensionOf(filename));

/** Whether Markdown shows the file in the text. */
export const isEmbeddable = (filename: string): boolean => isMedia(filename) || mediaType(filename) === svg;

/** How a browser may open a file: a file that it could execute can only be saved. */
export const dispositionOf = (filename: string): 'inline' | 'attachment' =>
  isMedia(filename) ? 'inline' : 'attachment';

/** A file name that is the same in a path, a URL and Markdown: characters other than letters, digits, `_`, `.`, `-` and `+` become `_`. */
export function storedName(name: string): string {
  const plain = name.replaceAll(/[^\p{L}\p{M}\p{Nd}\p{Pc}.+-]/gu, '_');
  return /^\.+$/.test(plain) ? `_${plain}`.slice(0, 255) : plain;
}

/** A link to a file in Markdown, or the markup of an image, video or audio. */
export function markdownOf(filename: string, url: string): { alt: string; markdown: string } {
  const isShown = isEmbeddable(filename);
  const alt = isShown ? path.parse(filename).name : filename;
  return { alt, markdown: `${isShown ? '!' : ''}[${alt}](${url})` };
}
