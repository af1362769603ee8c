/** What bytes are, and how names and values travel in headers. */

/** First bytes of the types that browsers may show or offer as what they are. Active content (HTML, SVG) is text here and never one of them. */
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

/** How much of a file its type is told from. */
export const sniffed_bytes = 8192;

function isText(start: Buffer): boolean {
  if (start.includes(0)) return false;
  try {
    // As a stream, so that a character cut off at the end is no fault.
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * The media type of a file.
 * @param start its first `sniffed_bytes`
 */
export function contentType(start: Buffer): string {
  const known = signatures.find(([, ...parts]) =>
    parts.every(([offset, bytes]) => start.toString('latin1', offset, offset + bytes.length) === bytes),
  );
  if (known) return known[0];
  return isText(start) ? 'text/plain; charset=utf-8' : 'application/octet-stream';
}

const largestPointer_bytes = 1024;

/** Whether a blob stands for a large file that is kept elsewhere (Git LFS). */
export const isLfsPointer = (content: Buffer): boolean =>
  content.length < largestPointer_bytes &&
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:[a-z0-9.-]+ .+\n)*oid sha256:[0-9a-f]{64}\nsize \d+\n?$/.test(
    content.toString('utf8'),
  );

/** A value as it may stand in a header: UTF-8 in single bytes, and control characters percent-encoded, so that no name adds a header of its own. */
export const headerValue = (text: string): string =>
  Buffer.from(text.replaceAll(/\p{Cc}/gu, encodeURIComponent), 'utf8').toString('latin1');

/** `Content-Disposition` for a file that is shown in place: its name in ASCII for old clients, and exactly. */
export function inlineDisposition(file_name: string): string {
  const plain = file_name.replaceAll(/[^\x20-\x7e]|["\\]/g, '_');
  const exact = encodeURIComponent(file_name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `inline; filename="${plain}"; filename*=UTF-8''${exact}`;
}
