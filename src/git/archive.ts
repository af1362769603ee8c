/** Archives: the files of a commit in one file. */
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { argumentsOf, GitError, outputStream, settingsOf, startForClient } from './command.ts';
import { fullId } from './ids.ts';
import { answerFilter, channelFilter, type LargeFiles } from './large_files.ts';
import type { Ending } from './launcher.ts';
import type { ArchiveFormat, Repository } from './types.ts';

/** git packs the other formats itself. */
const bzip2 = { 'tar.tar.bz2.command': 'bzip2 -c' };

export interface Archive {
  format: ArchiveFormat;
  /** The folder that holds everything in the archive. */
  folder: string;
  /** Limits the archive to this path, which must exist. */
  path?: string | undefined;
  /** Replaces LFS pointers with their files; pointers stay when it is left out. git holds each file in memory while it packs it. */
  largeFiles?: LargeFiles | undefined;
  /** Fires when the client has disconnected. */
  signal?: AbortSignal | undefined;
}

/** An archive as a stream. It ends with an error when git or `largeFiles` fails, and with `NoPlace`. */
export function streamArchive(
  repository: Repository,
  commit: string,
  { format, folder, path, largeFiles, signal }: Archive,
): Readable {
  const options = [`--format=${format}`, `--prefix=${folder}/`] as const;
  const args = argumentsOf(repository, 'archive', options, [fullId(commit)], path ? [path] : []);
  const env = settingsOf({ ...(format === 'tar.bz2' ? bzip2 : {}), ...(largeFiles ? channelFilter : {}) });
  const starting = startForClient(repository, args, {
    env,
    streams: largeFiles ? ['channel'] : [],
    group: true,
    signal,
  });
  const judge = ({ code, stderr }: Ending) => (code === 0 ? undefined : new GitError('archive', code, stderr));
  const out = outputStream(starting, { judge });
  if (largeFiles)
    starting.then(({ channel }) => answerFilter(channel!, largeFiles)).catch((error: Error) => out.destroy(error));
  return out;
}

/** Whether this machine can create archives in this format: one format needs a program that is not always installed. */
export async function isArchiveFormatKnown(format: ArchiveFormat): Promise<boolean> {
  if (format !== 'tar.bz2') return true;
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = await Promise.all(
    folders.map((folder) =>
      access(join(folder, 'bzip2'), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}
