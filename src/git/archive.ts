/** The files of a commit in one file. */
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { gitStream } from './command.ts';
import { fullId } from './ids.ts';
import type { ArchiveFormat, Environment, Repository } from './types.ts';

/** git packs the other formats itself. */
const bzip2: Environment = {
  GIT_CONFIG_COUNT: '3',
  GIT_CONFIG_KEY_2: 'tar.tar.bz2.command',
  GIT_CONFIG_VALUE_2: 'bzip2 -c',
};

/**
 * An archive as a stream of constant memory. `folder` is the one folder at its top; `path` leaves out what is not at or below it, and must be there.
 * A failure of git ends the stream with `GitError`.
 */
export function streamArchive(
  repository: Repository,
  commit: string,
  { format, folder, path }: { format: ArchiveFormat; folder: string; path?: string | undefined },
): Readable {
  const run = format === 'tar.bz2' ? { env: bzip2 } : {};
  return gitStream(
    repository,
    'archive',
    [`--format=${format}`, `--prefix=${folder}/`],
    [fullId(commit)],
    path ? [path] : [],
    run,
  );
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
