/** The files of blobs, as `blobs/disk.ts` lays them out. */
import { createHash } from 'node:crypto';
import { createReadStream, type Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

/** `kind/ab/cd/name`; receptions under way have another form. */
export const blobFilePattern = /^[a-z][a-z0-9_]*\/[a-z0-9]{2}\/[a-z0-9]{2}\/[a-z0-9][a-z0-9_-]*$/;

/** The names of all blobs below the folder. A blob may be deleted before it is read. */
export async function* blobFiles(folder: string, below = ''): AsyncGenerator<string> {
  const entries = await readdir(path.join(folder, below), { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [] as Dirent[];
    throw error;
  });
  for (const entry of entries) {
    const name = path.posix.join(below, entry.name);
    if (entry.isDirectory() && !entry.name.startsWith('.')) yield* blobFiles(folder, name);
    else if (entry.isFile() && blobFilePattern.test(name)) yield name;
  }
}

/** Where the blob with a key is, below the folder. */
export function placeOfBlob(key: string): string {
  const [kind = '', name = ''] = key.split('/');
  return path.join(kind, name.slice(0, 2), name.slice(2, 4), name);
}

/** The SHA-256 of a file in hexadecimal; undefined if the disk cannot read it. */
export async function digestOf(file: string, signal: AbortSignal): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(file), hash, { signal });
    return hash.digest('hex');
  } catch (error) {
    signal.throwIfAborted();
    if ((error as NodeJS.ErrnoException).code === 'EIO') return undefined; // the disk itself says that it is damaged
    throw error;
  }
}
