/** Bundles: a repository in one file, from which git clones and fetches. */
import type { Readable } from 'node:stream';
import { gitStream, settingsOf } from './command.ts';
import type { Repository } from './types.ts';

/** One thread, because several divide the work in an order that changes from run to run. */
const sameBytes = { 'pack.threads': '1' };

/**
 * A bundle of all refs and HEAD as a stream. Its bytes are the same each time until maintenance packs the objects in another way. It fails for a repository without commits.
 * @param signal stops git
 */
export const streamBundle = (repository: Repository, signal: AbortSignal): Readable =>
  gitStream(repository, 'bundle create', ['--quiet', '-', '--all'], [], [], {
    reader: 'server',
    env: settingsOf(sameBytes),
    signal,
  });
