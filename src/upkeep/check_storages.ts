/** Finds folders in the storages that belong to nothing. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { repositories } from '../areas/index.ts';
import type { Owner } from '../services/index.ts';
import type { CheckOptions, Finding } from './finding.ts';
import { placeOf } from './repositories.ts';
import { setAside } from './set_aside.ts';

/** A repository is created before its row, and deleted after it by a job that retries for hours. */
const abandoned_ms = 24 * 60 * 60_000;

/** Repositories without an owner, and incomplete ones. Those younger than a day are still in progress. */
export async function* checkStorages({ db, storages, signal }: CheckOptions): AsyncGenerator<Finding> {
  for (const [name, storage] of Object.entries(storages))
    for (const kind of repositories.kinds) {
      const found = await oldFolders(path.join(storage, kind.folder), signal);
      if (found.length === 0) continue;
      // Read after the folders were listed, so that it includes every row of theirs.
      const { rows } = await sql<Owner>`select id, storage from ${sql.table(kind.table)} where storage = ${name}`.execute(db);
      const known = new Set(rows.map((row) => placeOf(storages, { kind, ...row })?.path));
      for (const folder of found.filter((each) => !known.has(each))) {
        yield {
          sentence: `${folder} belongs to no ${kind.name}.`,
          repair: async () => `Moved to ${await setAside(storage, folder)}. Delete it when you are sure.`,
        };
      }
    }
}

/** Repositories are three levels down. */
async function oldFolders(hashed: string, signal: AbortSignal): Promise<string[]> {
  const folders: string[] = [];
  for (const first of await namesIn(hashed)) {
    signal.throwIfAborted();
    for (const second of await namesIn(path.join(hashed, first))) {
      const parent = path.join(hashed, first, second);
      for (const name of await namesIn(parent)) if (await isOld(path.join(parent, name))) folders.push(path.join(parent, name));
    }
  }
  return folders;
}

const namesIn = async (folder: string): Promise<string[]> => (await readdir(folder).catch(() => [])).sort();

async function isOld(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined);
  return found?.isDirectory() === true && Date.now() - found.mtimeMs > abandoned_ms;
}
