/** The three ways in which the content of a file leaves: in JSON, as bytes, and line by line with its history. */
import type { Readable } from 'node:stream';
import type { Static } from 'typebox';
import type { Project } from '../../access/index.ts';
import { blame, LineOutOfRange, readBlob, streamBlob } from '../../git/index.ts';
import { ApiError, badRequest, type Headers, type Services } from '../../http/index.ts';
import { isLfsEnabled, objectOf, pointerIn, readObject } from '../lfs/index.ts';
import { admitInJson, disposition, headerValue, uncached } from '../repository/index.ts';
import { type BlameRange, fileHeaders, presentFile, type RepositoryFile } from './present.ts';
import type { FoundFile } from './queries.ts';

/** git keeps the file and every line of it in memory while it blames. */
const largestBlamed_bytes = 32 * 1024 * 1024;

/**
 * A file as JSON.
 * @throws ApiError 429 for the sixth large file of a project in a minute, 413 for one that no reply in JSON can hold
 */
export async function fileWithContent(project: Project, file: FoundFile, ref: string): Promise<Static<typeof RepositoryFile>> {
  admitInJson(project, file.size_bytes, '/projects/:id/repository/files/:file_path/raw');
  return presentFile(file, ref, file.content ?? (await readBlob(file.repository, file.blob_id)));
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

/** The headers of the bytes of a file. */
export const rawHeaders = (file: FoundFile, ref: string): Headers => ({
  ...fileHeaders(file, ref),
  'content-type': file.content_type,
  'content-length': String(file.size_bytes),
  'content-disposition': headerValue(disposition('inline', file.file_name)),
  ...uncached,
});

interface RawFile {
  body: Buffer | Readable;
  headers: Headers;
}

/** The bytes of a file. */
export const rawFile = (file: FoundFile, ref: string): RawFile => ({
  body: file.content ?? streamBlob(file.repository, file.blob_id),
  headers: rawHeaders(file, ref),
});

/**
 * The bytes that a file stands for: those of the large file when it is a pointer and the project has large files switched on, otherwise its own.
 * @throws ApiError 404 when the project does not have the large file
 */
export async function largeFile(services: Services, project: Project, file: FoundFile, ref: string): Promise<RawFile> {
  const pointer = file.content && pointerIn(file.content);
  if (!pointer || !(await isLfsEnabled(services.db, project.id))) return rawFile(file, ref);
  const object = await objectOf(services.db, project.id, pointer.oid);
  if (!object) throw new ApiError(404, { message: '404 Not Found' });
  const headers = {
    ...rawHeaders(file, ref),
    'content-type': 'application/octet-stream',
    'content-length': String(object.size),
    'content-disposition': headerValue(disposition('attachment', file.file_name)),
  };
  return { body: await readObject(services, object), headers };
}
