/** Moves threads on the code to the latest version of their merge request (docs/reference/merge_requests.md#threads-follow-the-code). */
import { sql } from 'kysely';
import { type Issuable, theMergeRequest } from '../../../../access/index.ts';
import { type Database, isAmong, ofAnyLength } from '../../../../db/index.ts';
import { type Repository, repositoryOf } from '../../../../git/index.ts';
import { Id, nullable } from '../../../../http/index.ts';
import { job } from '../../../../jobs/index.ts';
import {
  changedSuggestions,
  followPositions,
  type Position,
  type Refs,
  resolveOutdated,
} from '../../../conversation/notes/index.ts';
import { mergeWithoutThreads } from '../merging/thread_actions.ts';
import { lastVersion } from './content_git.ts';

/** The most threads moved at once. */
const at_once = 500;

/** The version that threads are moved to. */
interface Goal {
  merge_request_id: number;
  version_id: number;
  refs: Refs;
  /** Whether threads that become outdated are resolved. */
  resolves: boolean;
}

/** A thread with a position in an earlier version. */
interface Behind {
  discussion_id: string;
  position: Position;
  /** Whether it is older than the latest version, so that the change of the code may have addressed it. */
  is_older: boolean;
}

/** A thread with its new position; null if it is outdated. */
type Followed = Omit<Behind, 'position'> & { position: Position | null };

async function goalOf(
  db: Database,
  merge_request_id: number,
): Promise<(Goal & { storage: string; target_id: number }) | undefined> {
  const row = await db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .innerJoin('merge_request_versions as version', 'version.id', 'merge_requests.latest_version_id')
    .select(['version.id as version_id', 'base_commit_sha', 'start_commit_sha', 'head_commit_sha'])
    .select(['projects.id as target_id', 'projects.storage', 'resolve_outdated_diff_discussions as resolves'])
    .where('merge_requests.id', '=', merge_request_id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { base_commit_sha, start_commit_sha: start_sha, head_commit_sha: head_sha, ...rest } = row;
  // A version of branches without a merge base has no base and no positions: every thread is outdated.
  return { ...rest, merge_request_id, refs: { base_sha: base_commit_sha ?? '', start_sha, head_sha } };
}

/** The first threads that are not at the latest version yet and not outdated. */
async function threadsBehind(db: Database, { merge_request_id, version_id, refs }: Goal): Promise<Behind[]> {
  const { rows } = await sql<Behind>`
    select discussion_id, notes.position, notes.created_at <= version.created_at as is_older
      from notes join merge_request_versions version on version.id = ${version_id}
     where notes.merge_request_id = ${merge_request_id} and starts_discussion and notes.position is not null and diff_commit_id is null and not outdated
       and not notes.position @> ${JSON.stringify(refs)}::jsonb
     order by notes.created_at, notes.id limit ${at_once}`.execute(db);
  return rows;
}

const refsOf = ({ base_sha, start_sha, head_sha }: Refs): Refs => ({ base_sha, start_sha, head_sha });

async function followAll(
  repository: Repository,
  { refs: to }: Goal,
  threads: readonly Behind[],
  signal: AbortSignal,
): Promise<Followed[]> {
  const outdated = threads.map((thread) => ({ ...thread, position: null }));
  if (to.base_sha === '') return outdated;
  const followed: Followed[] = [];
  const groups = Map.groupBy(threads, ({ position }) => Object.values(refsOf(position)).join());
  for (const group of groups.values()) {
    const positions = group.map(({ position }) => position);
    const found = await followPositions(repository, { from: refsOf(positions[0]!), to }, positions, signal);
    followed.push(...group.map((thread, at) => ({ ...thread, position: found[at] ?? null })));
  }
  return followed;
}

/**
 * Stores the new positions of threads, and marks suggestions whose lines were not found as outdated.
 * @returns false, storing nothing, if there is a newer version
 */
async function storeFollowed(
  tx: Database,
  on: Issuable,
  { version_id, resolves }: Goal,
  user_id: number | null,
  { threads, suggestion_ids }: { threads: readonly Followed[]; suggestion_ids: readonly number[] },
): Promise<boolean> {
  const ids = threads.map(({ discussion_id }) => discussion_id);
  // The notes before the merge request, in the lock order of replies and resolving.
  const notes = tx
    .selectFrom('notes')
    .select('id')
    .where(isAmong('discussion_id', ids, 'text[]'))
    .orderBy('id');
  await notes.forNoKeyUpdate().execute();
  const row = await tx
    .selectFrom('merge_requests')
    .select('latest_version_id')
    .where('id', '=', on.id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (row?.latest_version_id !== version_id) return false;
  const positions = threads.map(({ position }) => position && JSON.stringify(position));
  await sql`
    update notes set position = coalesce(followed.position, notes.position), outdated = followed.position is null
      from unnest(${ofAnyLength(ids, 'text[]')}, ${ofAnyLength(positions, 'text[]')}::jsonb[]) followed (discussion_id, position)
     where notes.discussion_id = followed.discussion_id and notes.merge_request_id = ${on.id}`.execute(tx);
  await tx
    .updateTable('suggestions')
    .set({ outdated: true })
    .where(isAmong('id', suggestion_ids, 'bigint[]'))
    .execute();
  const answered = threads.filter(({ position, is_older }) => position === null && is_older);
  if (resolves && answered.length > 0) {
    const noun = { afterLastThread: mergeWithoutThreads };
    await resolveOutdated(
      tx,
      noun,
      on,
      user_id,
      answered.map(({ discussion_id }) => discussion_id),
    );
  }
  return true;
}

/**
 * Enqueued with each version after the first, and for threads on an earlier version. A version added while it runs has its own job, so this one ends.
 */
export const followThreads = job('follow_threads', {
  input: {
    merge_request_id: Id,
    /** The user who changed the code. */
    user_id: nullable(Id),
  },
  retries: 5,
  run: async ({ input: { merge_request_id, user_id }, signal, ...services }) => {
    const { db, storages } = services;
    const goal = await goalOf(db, merge_request_id);
    if (!goal) return;
    const repository = repositoryOf({ storages }, { id: goal.target_id, storage: goal.storage });
    for (;;) {
      signal.throwIfAborted();
      const threads = await threadsBehind(db, goal);
      if (threads.length === 0) return;
      const followed = await followAll(repository, goal, threads, signal);
      const on = theMergeRequest(merge_request_id);
      const suggestion_ids = await changedSuggestions(db, repository, on, followed, signal);
      const found = { threads: followed, suggestion_ids };
      const isStored = await db.transaction().execute((tx) => storeFollowed(tx, on, goal, user_id, found));
      if (!isStored || threads.length < at_once) return;
    }
  },
});

/** Moves a thread that starts on an earlier version at once; the newer version may also have been added while the comment was written. */
export async function followFromOldVersion(tx: Database, { id }: Issuable, position: Position): Promise<void> {
  const version = await lastVersion(tx, id);
  const isLast =
    version?.head_commit_sha === position.head_sha &&
    version.start_commit_sha === position.start_sha &&
    version.base_commit_sha === position.base_sha;
  if (!isLast) await followThreads.enqueue(tx, { merge_request_id: id, user_id: null });
}
