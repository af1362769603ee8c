/** How blob content is returned: its media type, and how names and values are encoded in headers. */
import type { Headers } from '../../../../http/index.ts';

/** Magic numbers of the media types that are sent. Active content (HTML, SVG) is never among them, and is sent as text. */
const signatures: readonly [type: string, ...parts: [offset: number, bytes: string][]][] = [
  ['image/png', [0, '\x89PNG\r\n\x1a\n']],
  ['image/jpeg', [0, '\xff\xd8\xff']],
  ['image/gif', [0, 'GIF87a']],
  ['image/gif', [0, 'GIF89a']],
  ['image/webp', [0, 'RIFF'], [8, 'WEBP']],
  ['image/avif', [4, 'ftypavif']],
  ['application/pdf', [0, '%PDF-']],
  ['application/zip', [0, 'PK\x03\x04']],
  ['application/gzip', [0, '\x1f\x8b']],
  ['audio/mpeg', [0, 'ID3']],
  ['audio/wav', [0, 'RIFF'], [8, 'WAVE']],
  ['audio/flac', [0, 'fLaC']],
  ['application/ogg', [0, 'OggS']],
  ['video/mp4', [4, 'ftyp']],
  ['video/webm', [0, '\x1a\x45\xdf\xa3']],
];

/** The number of bytes read to detect the type of a file. */
export const sniffed_bytes = 8192;

function isText(start: Buffer): boolean {
  if (start.includes(0)) return false;
  try {
    // As a stream, so that a character cut off at the end is not an error.
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * The media type of a file.
 * @param content the file; only the first `sniffed_bytes` are used
 */
export function contentType(content: Buffer): string {
  const start = content.subarray(0, sniffed_bytes);
  const known = signatures.find(([, ...parts]) =>
    parts.every(([offset, bytes]) => start.toString('latin1', offset, offset + bytes.length) === bytes),
  );
  if (known) return known[0];
  return isText(start) ? 'text/plain; charset=utf-8' : 'application/octet-stream';
}

/** The media types that `contentType` can return. */
export const contentTypes = [
  ...new Set([...signatures.map(([type]) => type), 'text/plain', 'application/octet-stream']),
];

const isPlain = /^[\x20-\x7e]*$/;

/** Encodes a value for a header: UTF-8 in single bytes, and control characters percent-encoded, so that no name can add a header. */
export const headerValue = (text: string): string =>
  isPlain.test(text) ? text : Buffer.from(text.replaceAll(/\p{Cc}/gu, encodeURIComponent), 'utf8').toString('latin1');

/** `Content-Disposition` for a file to be displayed or saved: its name in ASCII for old clients, and in full. */
export function disposition(kind: 'inline' | 'attachment', file_name: string): string {
  const plain = file_name.replaceAll(/[^\x20-\x7e]|["\\]/g, '_');
  const exact = encodeURIComponent(file_name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${plain}"; filename*=UTF-8''${exact}`;
}

/**
 * The type and disposition of a file as headers. Displayed content is sandboxed, so that it cannot act as the user of this server.
 * @param disposition begins with `inline` or `attachment`
 */
export const shownAs = (type: string, disposition: string): Headers => ({
  'content-type': type,
  'content-disposition': headerValue(disposition),
  ...(disposition.startsWith('inline') ? { 'content-security-policy': 'sandbox' } : {}),
});

/** No proxy may cache the bytes: access can be revoked. */
export const uncached: Headers = {
  'cache-control': 'max-age=0, private, must-revalidate, no-store, no-cache',
  pragma: 'no-cache',
  expires: 'Fri, 01 Jan 1990 00:00:00 GMT',
};
