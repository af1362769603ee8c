/** Data folders for tests that are not about the first start: its database is there already, migrated and empty. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** In the folder for temporary files of a test run: a data folder to copy. */
export const preparedData = 'prepared';

/**
 * Copies the PostgreSQL of a data folder into another one.
 * @param from it must not be running
 * @param to made when it is missing
 */
export async function copyCluster(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  // It keeps the owner, which Node's own function does not.
  await promisify(execFile)('cp', ['-a', path.join(from, 'postgres'), to]);
}

/** Spares a data folder the part of the first start that takes long. A test file that is run alone, with `node --test`, goes without. */
export async function prepareData(data: string): Promise<void> {
  if (process.env.TEST_DATABASE_TEMPLATE !== undefined) await copyCluster(path.join(tmpdir(), preparedData), data);
}
