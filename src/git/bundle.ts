/** Bundles: a repository in one file, which git can clone and fetch from. */
import type { Readable } from 'node:stream';
import { gitStream, settingsOf } from './command.ts';
import type { Repository } from './types.ts';

/** One thread, because several threads divide the work in an order that varies between runs. */
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
