/** Fills a new repository from an untrusted repository of another system: from a bundle, or over HTTP. */
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { GitError, git, gitStream } from './command.ts';
import { plantRefs } from './copies.ts';
import { shareObjects } from './copy.ts';
import { fetchRefs } from './fetching.ts';
import { strictFsck } from './fsck.ts';
import { isValidBranchName, isValidTagName } from './ref_names.ts';
import { approachTo, type HttpRemote } from './remotes.ts';
import { createRepository, objectFormatOf } from './repository.ts';
import type { Repository } from './types.ts';

export interface FetchLimits {
  timeout_ms: number;
  /** Stops git. */
  signal: AbortSignal;
}

export interface FetchedRefs {
  /** The ids by the full names. */
  refs: Map<string, string>;
  /** The number of refs that were refused for their names or the objects they point to. */
  skipped: number;
}

/** The fields that git prints for a ref: the object, its type and the name. */
const refFormat = '--format=%(objectname) %(objecttype) %(refname)';
const maximumRefs = 1_000_000;

/** All refs of the supported kinds. */
const refspecs = ['heads', 'tags', 'notes', 'merge-requests', 'keep-around'].map(
  (kind) => `+refs/${kind}/*:refs/${kind}/*`,
);

const mergeRequestRefs = /^refs\/merge-requests\/[1-9]\d{0,9}\/(?:head|merge)$/;

function isAllowed(ref: string, id: string, type: string): boolean {
  const [, kind, name = ''] = /^refs\/([^/]+)\/(.+)$/.exec(ref) ?? [];
  // A name that is not UTF-8 would be changed.
  if (ref.includes('\ufffd')) return false;
  if (kind === 'tags') return isValidTagName(name);
  if (type !== 'commit') return false;
  if (kind === 'heads') return isValidBranchName(name);
  return kind === 'notes' ? isValidTagName(name) : mergeRequestRefs.test(ref) || ref === `refs/keep-around/${id}`;
}

async function allowedRefs(quarantine: Repository): Promise<FetchedRefs> {
  const refs = new Map<string, string>();
  let count = 0;
  for await (const line of createInterface({
    input: gitStream(quarantine, 'for-each-ref', [refFormat], [], [], { reader: 'server' }),
  })) {
    if (++count > maximumRefs) throw new GitError('for-each-ref', null, `there are more than ${maximumRefs} refs`);
    const [id, type] = line.split(' ', 2) as [string, string];
    const ref = line.slice(id.length + type.length + 2);
    if (isAllowed(ref, id, type)) refs.set(ref, id);
  }
  return { refs, skipped: count - refs.size };
}

/**
 * Fills a repository in a separate place; the visible one then receives all of it or nothing.
 * @param target is empty, or was begun by an earlier run
 */
async function throughQuarantine(
  target: Repository,
  { timeout_ms, signal }: FetchLimits,
  fill: (quarantine: Repository, limit: AbortSignal) => Promise<void>,
): Promise<FetchedRefs> {
  const path = join(dirname(target.path), `.incoming-${basename(target.path)}`);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout_ms)]);
  await rm(path, { recursive: true, force: true });
  try {
    const objectFormat = await objectFormatOf(target);
    const quarantine = await createRepository(path, { defaultBranch: 'main', objectFormat });
    await fill(quarantine, limit);
    const fetched = await allowedRefs(quarantine);
    await shareObjects(quarantine, target, limit);
    await plantRefs(target, fetched.refs);
    return fetched;
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

/**
 * Fills a new repository from a bundle: its branches, tags, notes, refs of merge requests and refs that keep commits.
 * @param file an absolute path
 * @param target has no refs, and the object format of the bundle
 * @throws GitError for a bundle that is damaged, incomplete, or has objects that a push may not have; the reason of the signal, which is a TimeoutError after the
 *   time
 */
export const fetchBundle = (file: string, target: Repository, limits: FetchLimits): Promise<FetchedRefs> =>
  throughQuarantine(target, limits, async (quarantine, signal) => {
    await git(quarantine, 'bundle verify', ['--quiet'], [file], [], { signal, timeout_ms: limits.timeout_ms });
    await fetchRefs(quarantine, file, refspecs, { signal });
    // git checks the objects that it fetches, but not the objects that it reads from bundles.
    const problems = await strictFsck(quarantine, signal);
    signal.throwIfAborted();
    if (problems.length > 0) throw new GitError('fsck', null, problems.join('\n'));
  });

/**
 * Fills a new repository over HTTP, with the same refs as from a bundle, as far as the remote system advertises them. The proxy limits the bytes.
 * @param target has no refs, and the object format of the source
 * @throws GitError; the reason of the signal, which is a TimeoutError after the time
 */
export async function fetchForeign(from: HttpRemote, target: Repository, limits: FetchLimits): Promise<FetchedRefs> {
  const { address, env, password } = approachTo(from);
  return await throughQuarantine(target, limits, (quarantine, signal) =>
    fetchRefs(quarantine, address, refspecs, { env, ...(password === undefined ? {} : { password }), signal }),
  );
}
