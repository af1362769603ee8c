/** The states of moves, and the texts of failures for administrators. Pure functions. */
import { GitError } from '../../../git/index.ts';
import type { State } from './definition.ts';

/** The states from which each state can be reached. */
export const before: Readonly<Record<Exclude<State, 'scheduled'>, readonly State[]>> = {
  // Restarted by another process after a crash.
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

/** Paths and credentials must not be visible in the list of moves. */
const withoutPaths = (text: string) => text.replaceAll(/(?:\/[^\s/:'"]+){2,}\/?/g, '…');

interface Places {
  /** The names of the storages. */
  source: string;
  destination: string;
  /** The folder of the source storage. */
  source_path: string | undefined;
}

/** The sentence for an error of a copy, at most 255 characters, without paths. */
export function failureText(error: unknown, { source, destination, source_path }: Places): string {
  if (error instanceof MoveFailed) return withoutPaths(error.message).slice(0, maximumMessage);
  const { code, errno, path } = error as NodeJS.ErrnoException;
  // git reports this error, too.
  if (code === 'ENOSPC' || code === 'EDQUOT') return `The storage ${destination} has not enough space.`;
  if (error instanceof GitError) return damaged(error.message).slice(0, maximumMessage);
  // Only errors of the file system have an errno: errors of the database or of our own code are not blamed on a
  // storage.
  if (errno === undefined) return 'The move has failed for a reason that the log of the server shows.';
  const isOfSource = source_path !== undefined && path?.startsWith(`${source_path}/`) === true;
  return isOfSource ? `The storage ${source} cannot be read.` : `The storage ${destination} cannot be written to.`;
}

/** @param line the first line of git's output */
export const damaged = (line: string): string => withoutPaths(`The repository is damaged: ${line.split('\n', 1)[0]}`);
