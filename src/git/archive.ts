/** The files of a commit in one file. */
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Duplex, Readable } from 'node:stream';
import { argumentsOf, GitError, outputStream, settingsOf, start, stderrOf } from './command.ts';
import { fullId } from './ids.ts';
import { answerFilter, channelFilter, type LargeFiles } from './large_files.ts';
import type { ArchiveFormat, Repository } from './types.ts';

/** git packs the other formats itself. */
const bzip2 = { 'tar.tar.bz2.command': 'bzip2 -c' };

export interface Archive {
  format: ArchiveFormat;
  /** The one folder at its top. */
  folder: string;
  /** Leaves out what is not at or below it; must be there. */
  path?: string | undefined;
  /** What stands in for pointers to large files; left out, they stay. git holds each of them in memory while it packs it. */
  largeFiles?: LargeFiles | undefined;
}

/** An archive as a stream. A failure of git, or of what gives the large files, ends it with an error. */
export function streamArchive(repository: Repository, commit: string, { format, folder, path, largeFiles }: Archive): Readable {
  const options = [`--format=${format}`, `--prefix=${folder}/`] as const;
  const args = argumentsOf(repository, 'archive', options, [fullId(commit)], path ? [path] : []);
  const env = settingsOf({ ...(format === 'tar.bz2' ? bzip2 : {}), ...(largeFiles ? channelFilter : {}) });
  const channel = largeFiles ? (['pipe'] as const) : [];
  const child = start(args, { env, stdio: ['ignore', 'pipe', 'pipe', ...channel], group: true });
  const stderr = stderrOf(child);
  const out = outputStream(child, { judge: (code) => (code === 0 ? undefined : new GitError('archive', code, stderr())) });
  if (largeFiles) answerFilter(child.stdio[3] as Duplex, largeFiles).catch((error: Error) => out.destroy(error));
  return out;
}

/** Whether an archive can be made in this format here: one of them needs a program that not every machine has. */
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
