/** The texts of failures, and the times of retries. Pure functions. */
import { GitError } from '../../../git/index.ts';

const maximumReason = 500;
const first_pause_s = 10;
const maximumPause_s = 3600;

/** Paths on a server are of no use to readers elsewhere. */
const withoutPaths = (text: string) => text.replaceAll(/(?:\/[^\s/:'"]+){2,}\/?/g, '…');

/** Why a record could not be read or written, as the end of a sentence, without paths. */
export function reasonOfFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full';
  const text = error instanceof GitError ? error.stderr.trim() || error.message : message;
  return withoutPaths(text.split('\n').find((line) => line.trim() !== '') ?? 'unknown').slice(0, maximumReason);
}

/**
 * The delay before a failed copy is retried, in seconds: 10, doubling up to an hour, with up to a quarter more or less.
 * @param failures the number of failures in a row, including this one
 * @param random from 0 to 1
 */
export const pauseAfter = (failures: number, random: number): number =>
  Math.min(first_pause_s * 2 ** (failures - 1), maximumPause_s) * (0.75 + random / 2);

/** @param reason the end of a sentence */
export const sentenceOfDamage = (reason: string): string => `The primary's copy is damaged: ${reason}`;
