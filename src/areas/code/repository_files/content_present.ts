/** The three forms in which file content is returned: JSON, raw bytes, and blame. */
import type { Readable } from 'node:stream';
import type { Static } from 'typebox';
import type { Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { blame, blobSize, LineOutOfRange, readBlob, streamBlob } from '../../../git/index.ts';
import { ApiError, badRequest, type Headers, type Services } from '../../../http/index.ts';
import { isLfsEnabled, objectOf } from '../lfs/queries.ts';
import { type LfsFile, pointerIn } from '../lfs/rules.ts';
import { disposition, headerValue, shownAs, uncached } from '../repository/trees/content_rules.ts';
import { admitInJson } from '../repository/trees/size_checks.ts';
import type { FileLocation, FoundFile } from './git.ts';
import { type BlameRange, fileHeaders, presentFile, type RepositoryFile } from './present.ts';

/** During a blame, git keeps the file and all its lines in memory. */
const maximumBlamed_bytes = 32 * 1024 * 1024;

/**
 * A file as JSON.
 * @throws ApiError 429 for the sixth large file of a project in a minute, 413 if it is too large for a JSON reply
 */
export async function fileWithContent(
  db: Database,
  project: Project,
  file: FoundFile,
  ref: string,
): Promise<Static<typeof RepositoryFile>> {
  await admitInJson(db, `project:${project.id}`, file.size_bytes, '/projects/:id/repository/files/:file_path/raw');
  return presentFile(file, ref, file.content ?? (await readBlob(file.repository, file.blob_id)));
}

/**
 * The lines of a file in groups, each with the commit that last changed them.
 * @throws ApiError 400 for an invalid range or one that begins past the end, 413 if the file is too large to blame
 */
export async function blameOf(
  { repository, blob_id, commit_id, file_path }: FileLocation,
  range: { start: number; end: number } | undefined,
): Promise<Static<typeof BlameRange>[]> {
  if (range && range.start > range.end) throw badRequest('range[start] must be less than or equal to range[end]');
  const size_bytes = await blobSize(repository, blob_id);
  if (size_bytes > maximumBlamed_bytes) throw new ApiError(413, { message: '413 Request Entity Too Large' });
  try {
    return await blame(repository, commit_id, file_path, range);
  } catch (error) {
    if (error instanceof LineOutOfRange) throw badRequest('range is outside of the bounds of the blob');
    throw error;
  }
}

/** The headers of the bytes of a file. */
export const rawHeaders = (file: FoundFile, ref: string): Headers => ({
  ...fileHeaders(file, ref),
  ...shownAs(file.content_type, disposition('inline', file.file_name)),
  'content-length': String(file.size_bytes),
  ...uncached,
});

/** The bytes of a file. */
export const rawBody = (file: FoundFile): Buffer | Readable =>
  file.content ?? streamBlob(file.repository, file.blob_id, { reader: 'client' });

/**
 * The large file that a pointer file refers to; undefined if the file is not a pointer, or if LFS is disabled for the project.
 * @throws ApiError 404 if the project does not have the large file
 */
export async function largeFileOf(
  { db }: Pick<Services, 'db'>,
  project: Project,
  { content }: FoundFile,
): Promise<LfsFile | undefined> {
  const pointer = content && pointerIn(content);
  if (!pointer || !(await isLfsEnabled(db, project.id))) return undefined;
  const object = await objectOf(db, project.id, pointer.oid);
  if (!object) throw new ApiError(404, { message: '404 Not Found' });
  return object;
}

/** The headers for the raw bytes of a large file, requested through its pointer. */
export const largeHeaders = (file: FoundFile, ref: string, object: LfsFile): Headers => ({
  ...rawHeaders(file, ref),
  'content-type': 'application/octet-stream',
  'content-length': String(object.size),
  'content-disposition': headerValue(disposition('attachment', file.file_name)),
});
