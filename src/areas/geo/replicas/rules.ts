/** What failures are called. Pure functions. */
import { GitError } from '../../../git/index.ts';

const longest_reason = 500;

/** Paths of a server are of no use to others. */
const withoutPaths = (text: string) => text.replaceAll(/(?:\/[^\s/:'"]+){2,}\/?/g, '…');

/** Why something could not be read or written, as the end of a sentence, without paths. */
export function reasonOfFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full';
  const text = error instanceof GitError ? error.stderr.trim() || error.message : message;
  return withoutPaths(text.split('\n').find((line) => line.trim() !== '') ?? 'unknown').slice(0, longest_reason);
}
