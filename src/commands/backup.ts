import { lstat, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Blobs } from '../blobs/index.ts';
import { blobsOf, secretKeyFile } from '../services/index.ts';
import { counted } from '../texts/index.ts';
import { backup as makeBackup } from '../upkeep/backup.ts';
import type { BlobReference } from '../upkeep/blob_references.ts';
import { storagesOf } from '../upkeep/repositories.ts';
import { type Command, OperatorError, required } from './command.ts';
import { interruption, withDatabase } from './database.ts';
import { fileReason } from './reasons.ts';

export const backup: Command = {
  summary: 'Write all data to one file while the server runs',
  help: `Options
  --to FILE          required; the file must not exist. It contains password digests and private code: keep it safe

The file contains the database, the git repositories and the large files (of a folder or of S3) at one moment; \`restore\` loads it into an empty server. It also
contains the secret key, if that is a file in the data folder. It does not contain settings (environment variables).

The exit code is 3 if the file was written but lacks large files that the database refers to and the server has lost; the first 100 are printed.`,
  options: { to: { type: 'string' } },
  run: async (given, config) => {
    const file = path.resolve(required(given, 'to'));
    const folder = path.dirname(file);
    if (!(await stat(folder).catch(() => undefined))?.isDirectory())
      throw new OperatorError(`There is no folder ${folder}.`);
    if (await lstat(file).catch(() => undefined)) throw new OperatorError(`${file} exists already.`);
    const signal = interruption();
    const blobs = blobsOf(config);
    const { repositories, gone, missing } = await withDatabase(config, { use: 'shared' }, 1, ({ connectionString }) =>
      makeBackup({
        connectionString,
        storages: storagesOf(config),
        blobs,
        secretKeyFile: config.secretKey === undefined ? secretKeyFile(config) : undefined,
        file,
        signal,
      }),
    ).catch(explain);
    const { size } = await lstat(file);
    console.log(
      `${file} holds the database and ${counted(repositories, 'repository', 'repositories')}, in ${Math.ceil(size / 1024)} KiB.`,
    );
    for (const full_path of gone)
      console.log(`${full_path} was deleted meanwhile; its repository is not in the backup.`);
    return missing.length === 0 ? 0 : warn(missing, blobs);
  },
};

/** Backups run unattended, and losses must be noticed while an older backup still has the data. */
const incomplete = 3;
/** The maximum number of lost files that are printed. */
const shown = 100;

function warn(missing: readonly BlobReference[], blobs: Blobs): number {
  for (const { key, owner } of missing.slice(0, shown))
    console.error(`${blobs.placeOf(key)} is missing; a row of ${owner} refers to it.`);
  const files = counted(missing.length, 'file is', 'files are');
  const it = missing.length === 1 ? 'it' : 'them';
  console.error(
    `Warning: ${files} missing and therefore not in the backup. If an older backup has ${it}, get ${it} with \`restore --from FILE --only PATH\`.`,
  );
  return incomplete;
}

/** Turns errors of the file system into sentences for the operator. */
function explain(error: unknown): never {
  const reason = fileReason(error);
  throw reason === undefined ? error : new OperatorError(`The backup failed. ${reason}`, { cause: error });
}
