/** Parses files that list dependencies. A content that was too costly is not parsed again in any project. */
import type { Database } from '../../../db/index.ts';
import { type ReadFile, readFile, TooCostly } from '../../../lockfiles/index.ts';
import { costlyAmong, noteCostly } from '../../instance/costly_files/index.ts';
import { readerVersion } from './file_actions.ts';

type FileToRead = Parameters<typeof readFile>;

/**
 * Parses a file in the worker thread.
 * @param work its content identifies the file and the files that complete it
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
