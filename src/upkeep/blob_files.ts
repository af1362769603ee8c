/** The files of blobs, as `blobs/disk.ts` lays them out. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';

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
