/** Reading a file for display, limited to the part that a page shows. */
import type { Readable } from 'node:stream';
import type { FileParts, PageCall } from '../../../pages/index.ts';

/** A file, and its text if it is one. */
export interface ShownFile {
  path: string;
  name: string;
  size_bytes: number;
  /** A media type. */
  type: string;
  blob_id: string;
  /** The last commit that changed it. */
  last_commit_id: string;
  /** The beginning of a text. */
  text?: string;
  /** Whether the text is truncated. */
  is_cut: boolean;
}

/** The maximum size read of a file. */
const maximum_bytes = 1024 * 1024;

/** The first bytes of a file. Leaving the loop ends the stream. */
async function startOf(body: Buffer | Readable): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body.subarray(0, maximum_bytes);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= maximum_bytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maximum_bytes);
}

/** The LFS object of a file, or the file's pointer if that is missing. */
const withLargeFile = async (
  { bytes, perhaps }: PageCall,
  operation: 'getRawFile' | 'getRawFileMetadata',
  given: { file_path: string; ref: string },
): Promise<FileParts> => (await perhaps(bytes(operation, { ...given, lfs: true }))) ?? bytes(operation, given);

/**
 * The file at a path.
 * @param ref a commit
 * @throws ApiError 404 if there is none
 */
export async function fileToShow(call: PageCall, path: string, ref: string): Promise<ShownFile> {
  const { headers = {} } = await withLargeFile(call, 'getRawFileMetadata', { file_path: path, ref });
  const type = headers['content-type'] ?? 'application/octet-stream';
  const size_bytes = Number(headers['content-length']);
  const file = { path, name: path.slice(path.lastIndexOf('/') + 1), size_bytes, type };
  const ids = { blob_id: headers['x-gitlab-blob-id']!, last_commit_id: headers['x-gitlab-last-commit-id']! };
  const shown = { ...file, ...ids, is_cut: size_bytes > maximum_bytes };
  if (!type.startsWith('text/')) return shown;
  const { body } = await call.bytes('getRawFile', { file_path: path, ref });
  return { ...shown, text: new TextDecoder().decode(await startOf(body as Buffer | Readable)) };
}

/** The bytes of a file, for the page `raw`. */
export const fileBytes = (call: PageCall, path: string, ref: string): Promise<FileParts> =>
  withLargeFile(call, 'getRawFile', { file_path: path, ref });
