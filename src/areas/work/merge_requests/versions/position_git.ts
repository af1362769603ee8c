/** Finds the diff of a merge request that a comment refers to (docs/reference/discussions.md#positions). */
import { type Granted, type NumberedIssuable, projectOf } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { isAncestor, objectHeader, type Repository, repositoryOf } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import {
  diffOfCommit,
  type GivenPosition,
  incompletePosition,
  type Position,
  positionIn,
} from '../../../conversation/notes/index.ts';
import { lastVersion } from './content_git.ts';

/** Whether a version of a merge request has the commits of a position: its merge base, the head of the target branch, and its own head. */
async function isVersion(db: Database, id: number, { base_sha, start_sha, head_sha }: GivenPosition): Promise<boolean> {
  const version = db
    .selectFrom('merge_request_versions')
    .select('id')
    .where('merge_request_id', '=', id)
    .where('base_commit_sha', '=', base_sha)
    .where('start_commit_sha', '=', start_sha)
    .where('head_commit_sha', '=', head_sha);
  return (await version.limit(1).executeTakeFirst()) !== undefined;
}

/** Whether the latest version contains a commit. */
async function hasCommit(db: Database, repository: Repository, id: number, sha: string): Promise<boolean> {
  const version = await lastVersion(db, id);
  if (!version || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(sha)) return false;
  if ((await objectHeader(repository, sha))?.type !== 'commit') return false;
  const { head_commit_sha, start_commit_sha } = version;
  return (await isAncestor(repository, sha, head_commit_sha)) && !(await isAncestor(repository, sha, start_commit_sha));
}

/**
 * The stored position of a comment on a merge request, after it was found in the diff of a version, or of one of its commits.
 * @param commit_id the commit, instead of a version
 * @throws ApiError 400 for other commits, and for a position outside the diff
 */
export async function positionOn(
  { db, storages }: Pick<Services, 'db' | 'storages'>,
  { id, in: place }: Granted<NumberedIssuable>,
  given: GivenPosition,
  commit_id?: string,
): Promise<Position> {
  const repository = repositoryOf({ storages }, projectOf(place));
  if (commit_id !== undefined) {
    if (!(await hasCommit(db, repository, id, commit_id))) throw incompletePosition();
    return positionIn(await diffOfCommit(repository, commit_id), given);
  }
  if (!(await isVersion(db, id, given))) throw incompletePosition();
  const { base_sha, start_sha, head_sha } = given;
  return positionIn(
    { sides: { repository, from: base_sha, to: head_sha }, refs: { base_sha, start_sha, head_sha } },
    given,
  );
}
