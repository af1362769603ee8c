/** The states of moves, and what administrators see of failures. Pure functions. */
import { GitError } from '../../../git/index.ts';
import type { State } from './definition.ts';

/** The only transitions. */
export const before: Readonly<Record<Exclude<State, 'scheduled'>, readonly State[]>> = {
  // Begun again by another process after a crash.
  started: ['scheduled', 'started'],
  replicated: ['started'],
  finished: ['replicated'],
  failed: ['scheduled', 'started'],
  'cleanup failed': ['replicated'],
};

/** A reason why a move has failed, as a sentence for administrators. */
export class MoveFailed extends Error {
  override name = 'MoveFailed';
}

const maximumMessage = 255;

/** Paths and credentials are not for everyone who sees the list of moves. */
const withoutPaths = (text: string) => text.replaceAll(/(?:\/[^\s/:'"]+){2,}\/?/g, '…');

interface Places {
  /** The names of the storages. */
  source: string;
  destination: string;
  /** The folder of the storage that is read. */
  source_path: string | undefined;
}

/** The sentence for an error of a copy, at most 255 characters, without paths. */
export function failureText(error: unknown, { source, destination, source_path }: Places): string {
  if (error instanceof MoveFailed) return withoutPaths(error.message).slice(0, maximumMessage);
  const { code, errno, path } = error as NodeJS.ErrnoException;
  // git meets this, too.
  if (code === 'ENOSPC' || code === 'EDQUOT') return `The storage ${destination} has not enough space.`;
  if (error instanceof GitError) return damaged(error.message).slice(0, maximumMessage);
  // Only errors of the file system have one: a storage is not blamed for those of the database, or of ours.
  if (errno === undefined) return 'The move has failed for a reason that the log of the server shows.';
  const isOfSource = source_path !== undefined && path?.startsWith(`${source_path}/`) === true;
  return isOfSource ? `The storage ${source} cannot be read.` : `The storage ${destination} cannot be written to.`;
}

/** @param line what git says first */
export const damaged = (line: string): string => withoutPaths(`The repository is damaged: ${line.split('\n', 1)[0]}`);
