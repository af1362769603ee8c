/** Reading a file to be edited. */
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { PageCall } from '../../../pages/index.ts';
import type { WrittenPlace } from './place_queries.ts';

export interface EditedFile {
  path: string;
  /** Undefined if it is no text, or too long for a form. */
  text: string | undefined;
  /** The last commit that changed it. */
  last_commit_id: string;
}

/** What a form takes, also if each byte is escaped. */
const maximum_bytes = 1024 * 1024;

/** A text that a form gives back as it was. */
function textIn(content: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** @throws ApiError 404 if there is no file at the path */
export async function fileToEdit({ bytes }: PageCall, { path, commit, ref }: WrittenPlace): Promise<EditedFile> {
  const at = { file_path: path, ref: commit?.id ?? ref };
  const { headers = {} } = await bytes('getRawFileMetadata', at);
  const found = { path, last_commit_id: headers['x-gitlab-last-commit-id']! };
  if (Number(headers['content-length']) > maximum_bytes) return { ...found, text: undefined };
  const { body } = await bytes('getRawFile', at);
  return { ...found, text: textIn(Buffer.isBuffer(body) ? body : await buffer(body as Readable)) };
}
