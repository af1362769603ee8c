/** What is in the archive of a job. Nothing but the file that is asked for is unpacked. */
import { Readable } from 'node:stream';
import {
  InvalidContent,
  isInside,
  type RandomAccess,
  type ZipEntry,
  zipContent,
  zipEntries,
} from '../../../archives/index.ts';
import { ApiError, badRequest, found, type Services } from '../../../http/index.ts';
import type { Artifact } from './queries.ts';
import { Tree, type TreeEntry } from './rules.ts';

type Stored = Pick<Artifact, 'blob_key' | 'size_bytes'>;

/** A blob as a file whose parts can be read. */
export const partsOf = ({ blobs }: Pick<Services, 'blobs'>, { blob_key, size_bytes }: Stored): RandomAccess => ({
  size_bytes,
  async *read(start, end) {
    if (start >= end) return;
    const part = await blobs.read(blob_key, { start, end: end - 1 });
    if (!part) throw new Error(`the blob ${blob_key} is missing`);
    yield* part as AsyncIterable<Buffer>;
  },
});

export const badPath = '400 Bad request';
/** The largest file that is given out of an archive. */
const maximumFile_bytes = 2 * 1024 ** 3;
export const tooLargeText = 'The file is larger than 2 GiB. Download the archive.';

async function entryNamed(archive: RandomAccess, name: string): Promise<ZipEntry | undefined> {
  for await (const entry of zipEntries(archive)) if (entry.name === name) return entry;
  return undefined;
}

/**
 * A file of an archive.
 * @throws ApiError 400 for a path that leaves the archive, and for what is no file or cannot be unpacked; 404
 */
export async function fileIn(
  services: Pick<Services, 'blobs'>,
  artifact: Stored,
  path: string,
): Promise<{ size_bytes: number; body: Readable }> {
  if (!isInside(path)) throw badRequest(badPath);
  const archive = partsOf(services, artifact);
  const entry = found(undefined, await entryNamed(archive, path));
  if (entry.size_bytes > maximumFile_bytes) throw badRequest(tooLargeText);
  try {
    const content = await zipContent(archive, entry, { most_bytes: maximumFile_bytes });
    return { size_bytes: entry.size_bytes, body: Readable.from(content, { objectMode: false }) };
  } catch (error) {
    throw error instanceof InvalidContent ? badRequest(badPath) : error;
  }
}

/** More would fill the memory, and no person reads them. */
const maximumListed = 100_000;
export const tooManyText = '413 Request Entity Too Large - the folder holds too much to be listed';

/**
 * What is in a folder of an archive.
 * @param folder from the top of the archive; empty for the top
 * @throws ApiError 400 for a path that leaves the archive, 404 for a folder that is not there, 413
 */
export async function folderIn(
  services: Pick<Services, 'blobs'>,
  artifact: Stored,
  { folder, is_recursive }: { folder: string; is_recursive: boolean },
): Promise<TreeEntry[]> {
  const trimmed = folder.replace(/\/$/, '');
  if (trimmed !== '' && !isInside(trimmed)) throw badRequest(badPath);
  const inside = trimmed === '' ? '' : `${trimmed}/`;
  const tree = new Tree(inside, is_recursive);
  let isKnown = inside === '';
  for await (const entry of zipEntries(partsOf(services, artifact))) {
    isKnown ||= entry.name.startsWith(inside);
    tree.add(entry);
    if (tree.size > maximumListed) throw new ApiError(413, { message: tooManyText });
  }
  found(undefined, isKnown || undefined);
  return tree.entries;
}
