/** Reading files that list dependencies. One that was too costly is not tried again, in whatever project its content is found. */
import type { Database } from '../../../db/index.ts';
import { type ReadFile, readFile, TooCostly } from '../../../lockfiles/index.ts';
import { costlyAmong, noteCostly } from '../../instance/costly_files/index.ts';
import { readerVersion } from './file_actions.ts';

type FileToRead = Parameters<typeof readFile>;

/**
 * Reads a file in the thread.
 * @param work its content tells the file and what completes it from others
 * @throws Unreadable, TooMuchWaiting, and the reason of the signal
 */
export async function readOnce(
  db: Database,
  path: string,
  bytes: Uint8Array,
  work: FileToRead[2],
  more?: FileToRead[3],
): Promise<ReadFile> {
  const content = `dependencies ${readerVersion} ${work.content}`;
  const known = (await costlyAmong(db, [content])).get(content);
  if (known !== undefined) throw new TooCostly(known);
  try {
    return await readFile(path, bytes, { ...work, content }, more);
  } catch (error) {
    if (error instanceof TooCostly) await noteCostly(db, content, error.message);
    throw error;
  }
}
