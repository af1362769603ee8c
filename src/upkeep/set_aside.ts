/** Files that seem to belong to nothing are moved, not deleted: the database may be older than the files. */
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';

/**
 * Moves a file or folder to `.unowned` in its storage.
 * @param storage the folder of the storage that it is in
 * @returns where it is now
 */
export async function setAside(storage: string, found: string): Promise<string> {
  const folder = path.join(storage, '.unowned', new Date().toISOString().slice(0, 10));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const place = path.join(folder, path.basename(found));
  await rename(found, place);
  return place;
}
