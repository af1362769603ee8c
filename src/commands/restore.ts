import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import type { Config } from '../config.ts';
import { ArchiveError } from '../upkeep/archive.ts';
import { RestoreError, restore as restoreBackup } from '../upkeep/restore.ts';
import { type Command, OperatorError, required } from './command.ts';
import { interruption, withServer } from './database.ts';

/** Files that any command may leave in an unused data folder. */
const ignored = ['cache', 'lost+found'];

export const restore: Command = {
  summary: 'Load a backup into an empty server',
  help: `Options
  --from FILE        required; written by \`backup\` of this version or an earlier one

The data folder and the storages must be empty, and so must the database when COPPICE_DATABASE_URL names one. When the restoration
fails, they are empty again.`,
  options: { from: { type: 'string' } },
  run: async (given, config) => {
    const file = path.resolve(required(given, 'from'));
    if (!(await stat(file).catch(() => undefined))?.isFile()) throw new OperatorError(`There is no file ${file}.`);
    const folders = foldersOf(config);
    for (const folder of folders) await refuseFull(folder);
    const signal = interruption();
    try {
      await withServer(config, { use: 'exclusive' }, async (connectionString) => {
        await refuseUsed(connectionString);
        for (const { path: folder } of config.storages) await mkdir(folder, { recursive: true, mode: 0o700 });
        report(await restoreBackup({ connectionString, config, file, signal }));
      });
    } catch (error) {
      for (const folder of folders) await clear(folder);
      if (error instanceof RestoreError || error instanceof ArchiveError)
        throw new OperatorError(`${error.message} Nothing was restored.`, { cause: error });
      throw error;
    }
    return 0;
  },
};

function report({ created_at, repositories, emptied }: Awaited<ReturnType<typeof restoreBackup>>): void {
  console.log(`Restored: the database as it was at ${created_at}, and ${repositories} repositories.`);
  for (const full_path of emptied)
    console.log(`${full_path} was deleted while the backup ran; it is back, with an empty repository.`);
}

/** Storages inside the data folder are empty when it is. */
const foldersOf = ({ data, storages, blobs }: Config): string[] => [
  data,
  ...[...storages.map((storage) => storage.path), blobs].filter((folder) => !folder.startsWith(`${data}${path.sep}`)),
];

async function entriesOf(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => !ignored.includes(name));
}

async function refuseFull(folder: string): Promise<void> {
  const [first] = await entriesOf(folder);
  if (first !== undefined)
    throw new OperatorError(
      `${folder} is not empty (it contains ${first}). Restore into an empty folder: set COPPICE_DATA to another one.`,
    );
}

/** Removes only what was added since the folder was found empty. */
async function clear(folder: string): Promise<void> {
  for (const name of await entriesOf(folder)) await rm(path.join(folder, name), { recursive: true, force: true });
}

/** A failed restore leaves tables, but no users in them. */
async function refuseUsed(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows: tables } = await client.query("select from pg_tables where schemaname = 'public' and tablename = 'users'");
    if (tables.length === 0) return;
    const { rows: users } = await client.query('select from users limit 1');
    if (users.length > 0)
      throw new OperatorError('The database of COPPICE_DATABASE_URL is not empty. Restore into an empty database.');
  } finally {
    await client.end();
  }
}
