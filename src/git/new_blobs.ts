/** Reads the small files of a push, within limits: some pushes have millions. */
import { createInterface } from 'node:readline';
import { GitError, gitStream } from './command.ts';
import { fullId } from './ids.ts';
import { objectsIn } from './quarantine.ts';
import type { Environment, Repository } from './types.ts';

export interface NewBlobs {
  /** The object ids that the push gives to refs. */
  targets: readonly string[];
  /** The quarantine of the push. */
  env: Environment;
  /** Blobs of this size and larger are left out. */
  smaller_than_bytes: number;
  /** The maximum number of blobs. */
  limit: number;
  /** The time limit of the search; blobs found later are left out. */
  timeout_ms: number;
}

/** The contents of blobs that are not yet reachable from a branch or tag. */
export async function newBlobs(repository: Repository, wanted: NewBlobs): Promise<Buffer[]> {
  const ids = await newIds(repository, wanted);
  const objects = await objectsIn(repository, ids, wanted.env);
  return objects.filter(({ type }) => type === 'blob').map(({ content }) => content);
}

async function newIds(
  repository: Repository,
  { targets, env, smaller_than_bytes, limit, timeout_ms }: NewBlobs,
): Promise<string[]> {
  if (targets.length === 0) return [];
  const signal = AbortSignal.timeout(timeout_ms);
  // The second --not ends the exclusion, so that what follows is included again.
  const options = [
    '--objects',
    '--no-object-names',
    '--filter=object:type=blob',
    `--filter=blob:limit=${smaller_than_bytes}`,
    '--filter-provided-objects',
    '--not',
    '--branches',
    '--tags',
    '--not',
  ] as const;
  const stream = gitStream(repository, 'rev-list', options, targets.map(fullId), [], { reader: 'server', env, signal });
  const ids: string[] = [];
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      ids.push(line);
      if (ids.length === limit) break;
    }
  } catch (error) {
    if (!(error instanceof GitError && signal.aborted)) throw error;
  } finally {
    stream.destroy();
  }
  return ids;
}
