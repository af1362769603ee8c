/** Housekeeping of a repository. It is safe beside readers and writers: no reachable object is ever removed. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError, git } from './command.ts';
import { removeIfOlder, removeStaleLocks } from './locks.ts';
import type { Environment, Repository } from './types.ts';

/** Above these numbers, the lookups of objects cost noticeably more than one repack. */
const many_loose_objects = 500;
/** Above this size, every clone spends about a second on compression. */
const many_loose_bytes = 16 * 1024 * 1024;
const many_packs = 8;
const many_loose_refs = 200;
const maximumMaintenance_ms = 60 * 60_000;
/** A push or a maintenance run that started this long ago is considered dead. */
const abandoned_ms = 24 * 60 * 60_000;

export interface ObjectCounts {
  loose_objects: number;
  packed_objects: number;
  packs: number;
  /** Bytes on disk of loose objects. */
  loose_bytes: number;
  /** Bytes on disk of all objects. */
  size_bytes: number;
}

/**
 * The number of objects in a repository and their size on disk.
 * @param env the quarantine of a push, whose objects are then counted alone
 */
export async function countObjects(repository: Repository, env: Environment = {}): Promise<ObjectCounts> {
  const output = (await git(repository, 'count-objects', ['--verbose'], [], [], { env })).toString('utf8');
  const count = (key: string) => Number(new RegExp(`^${key}: (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
  const loose_bytes = count('size') * 1024;
  const size_bytes = loose_bytes + (count('size-pack') + count('size-garbage')) * 1024;
  return {
    loose_objects: count('count'),
    packed_objects: count('in-pack'),
    packs: count('packs'),
    loose_bytes,
    size_bytes,
  };
}

/**
 * Repacks when there are many packs or loose objects, updates the commit-graph (with changed-path filters), and removes the remains of dead writers. Cheap when
 * there is little to do. Throws `GitError`; a failed run has changed nothing that matters.
 */
export async function maintain(repository: Repository): Promise<void> {
  await removeStaleLocks(repository);
  await removeAbandoned(repository);
  const timeout_ms = maximumMaintenance_ms;
  const { loose_objects, loose_bytes, packs } = await countObjects(repository);
  if (loose_objects > many_loose_objects || loose_bytes > many_loose_bytes || packs > many_packs)
    await repack(repository);
  if ((await looseRefs(repository)) > many_loose_refs)
    await git(repository, 'pack-refs', ['--all'], [], [], { timeout_ms });
  await git(repository, 'commit-graph write', ['--reachable', '--changed-paths', '--split', '--no-progress'], [], [], {
    timeout_ms,
  });
}

/**
 * Combines small packs and loose objects, reachable or not, into larger packs, so that the work is proportional to what is new.
 * Bitmaps make clones cheap, but git cannot write them while a partly imported history refers to missing objects.
 */
async function repack(repository: Repository): Promise<void> {
  const options = ['-d', '--geometric=2', '--quiet', '--write-midx'] as const;
  const run = { timeout_ms: maximumMaintenance_ms };
  try {
    await git(repository, 'repack', [...options, '--write-bitmap-index'], [], [], run);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    await git(repository, 'repack', [...options, '--no-write-bitmap-index'], [], [], run);
  }
}

async function looseRefs(repository: Repository): Promise<number> {
  const entries = await readdir(join(repository.path, 'refs'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}

/** The quarantine folders, temporary objects and packs, and locks of processes that died. */
async function removeAbandoned(repository: Repository): Promise<void> {
  const objects = join(repository.path, 'objects');
  const names = await readdir(objects);
  const folders = names.filter((name) => /^(?:[0-9a-f]{2}|pack)$/.test(name)).map((name) => join(objects, name));
  const drafts = names.filter((name) => name.startsWith('tmp_objdir-')).map((name) => join(objects, name));
  for (const folder of folders) {
    for (const name of await readdir(folder)) if (/^\.?tmp[_-]/.test(name)) drafts.push(join(folder, name));
  }
  const locks = ['pack/multi-pack-index.lock', 'info/commit-graph.lock', 'info/commit-graphs/commit-graph-chain.lock'];
  for (const path of drafts) await removeIfOlder(path, abandoned_ms);
  // Only maintenance takes these locks, and it is stopped after that time.
  for (const name of locks) await removeIfOlder(join(objects, name), maximumMaintenance_ms);
}
