/** The marker of an unfinished restore. It is written before anything is restored and removed last, so that a killed restore is recognized and can be run again. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config.ts';
import { OperatorError } from './command.ts';

export interface UnfinishedRestore {
  /** Absolute paths of the folders that were empty when it began. */
  folders: string[];
  /** Whether the database had no table when it began. */
  emptyDatabase: boolean;
  /** The address of the bucket that was empty; left out when blobs are in a folder. */
  bucket?: string;
}

type Home = Pick<Config, 'data'>;

export const markName = 'restore.unfinished';
const markOf = ({ data }: Home) => path.join(data, markName);

/** The unfinished restore into this data folder: it was killed, or is still running. */
export async function unfinishedRestore(config: Home): Promise<UnfinishedRestore | undefined> {
  const text = await readFile(markOf(config), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  return JSON.parse(text) as UnfinishedRestore;
}

/** Writes the marker of a restore into these folders. */
export async function markRestore(config: Home, begun: UnfinishedRestore): Promise<void> {
  await mkdir(config.data, { recursive: true, mode: 0o700 });
  await writeFile(markOf(config), JSON.stringify(begun), { mode: 0o600, flush: true });
}

export async function unmarkRestore(config: Home): Promise<void> {
  await rm(markOf(config), { force: true });
}

/**
 * A server would take the remains of a killed restore for an empty instance.
 * @throws OperatorError
 */
export async function refuseUnfinishedRestore(config: Home): Promise<void> {
  if ((await unfinishedRestore(config)) !== undefined)
    throw new OperatorError(
      `A restore into ${config.data} did not finish. Run \`restore\` again, which starts it anew.`,
    );
}
