/** The three ways in which the content of a file leaves: in JSON, as bytes, and line by line with its history. */
import type { Readable } from 'node:stream';
import type { Static } from 'typebox';
import type { Project } from '../../access/index.ts';
import { blame, LineOutOfRange, readBlob, streamBlob } from '../../git/index.ts';
import { ApiError, badRequest, type Headers } from '../../http/index.ts';
import { type BlameRange, fileHeaders, presentFile, type RepositoryFile } from './present.ts';
import type { FoundFile } from './queries.ts';
import { headerValue, inlineDisposition, isLfsPointer } from './rules.ts';
import { Throttle } from './throttle.ts';

/** Above this a file in JSON is offered a few times a minute only: the whole of it is in memory three times. */
const large_bytes = 10 * 1024 * 1024;
const largest_bytes = 128 * 1024 * 1024;
/** git keeps the file and every line of it in memory while it blames. */
const largestBlamed_bytes = 32 * 1024 * 1024;
const largeReads = new Throttle(5, 60_000);

const tooLargeText =
  `The requested blob is over the threshold size of ${large_bytes}.\n` +
  "Access this blob using '/projects/:id/repository/files/:file_path/raw' to avoid this error.\n";

/**
 * A file as JSON.
 * @throws ApiError 429 for the sixth large file of a project in a minute, 413 for one that no reply in JSON can hold
 */
export async function fileWithContent(project: Project, file: FoundFile, ref: string): Promise<Static<typeof RepositoryFile>> {
  if (file.size_bytes > largest_bytes) throw new ApiError(413, { message: { error: tooLargeText } });
  if (file.size_bytes > large_bytes && !largeReads.admits(project.id))
    throw new ApiError(429, { message: { error: tooLargeText } });
  return presentFile(file, ref, file.content ?? (await readBlob(file.repository, file.blob_id, largest_bytes)));
}

/**
 * The lines of a file, each group with the commit that they come from.
 * @throws ApiError 400 for a range that is none or begins behind the end, 413 for a file that is too large to blame
 */
export async function blameOf(
  file: FoundFile,
  range: { start: number; end: number } | undefined,
): Promise<Static<typeof BlameRange>[]> {
  if (range && range.start > range.end) throw badRequest('range[start] must be less than or equal to range[end]');
  if (file.size_bytes > largestBlamed_bytes) throw new ApiError(413, { message: '413 Request Entity Too Large' });
  try {
    return await blame(file.repository, file.commit_id, file.file_path, range);
  } catch (error) {
    if (error instanceof LineOutOfRange) throw badRequest('range is outside of the bounds of the blob');
    throw error;
  }
}

/**
 * The bytes of a file.
 * @param lfs whether the large file is wanted that a pointer stands for; the server keeps none yet
 * @throws ApiError 404 when it is, and the file is a pointer
 */
export function rawContent(file: FoundFile, lfs: boolean): Buffer | Readable {
  if (lfs && file.content && isLfsPointer(file.content)) throw new ApiError(404, { message: '404 Not Found' });
  return file.content ?? streamBlob(file.repository, file.blob_id);
}

/** The headers of the bytes of a file. Nothing between here and the reader keeps them: who may read can change. */
export const rawHeaders = (file: FoundFile, ref: string): Headers => ({
  ...fileHeaders(file, ref),
  'content-type': file.content_type,
  'content-length': String(file.size_bytes),
  'content-disposition': headerValue(inlineDisposition(file.file_name)),
  'cache-control': 'max-age=0, private, must-revalidate, no-store, no-cache',
  pragma: 'no-cache',
  expires: 'Fri, 01 Jan 1990 00:00:00 GMT',
});
