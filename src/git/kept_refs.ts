/** Refs that only the server sets: the refs of merge requests, which clients can fetch, those of pipelines, which their jobs can, and refs that keep commits from being deleted. */
import { GitError, git } from './command.ts';
import { fullId } from './ids.ts';
import { pastStaleLocks } from './locks.ts';
import type { Repository } from './types.ts';

/**
 * The ref of a merge request in its target project: `head` is the head of its source branch, `merge` the result of merging it now.
 * @param iid the number of the merge request
 */
export const mergeRequestRef = (iid: number, kind: 'head' | 'merge'): string => `refs/merge-requests/${iid}/${kind}`;

/** The ref that keeps a commit, and its history, in a repository. */
export const keepAroundRef = (commit_id: string): string => `refs/keep-around/${fullId(commit_id)}`;

/** The ref that keeps the commit of a pipeline for its jobs. Only they can fetch it. */
export const pipelineRef = (id: number): string => `refs/pipelines/${id}`;

/**
 * Sets refs of this kind in one transaction, whatever their current value; null removes one. Uses one process for any number of refs.
 * @throws GitError for another kind of ref, and when a commit does not exist
 */
export async function setKeptRefs(repository: Repository, refs: ReadonlyMap<string, string | null>): Promise<void> {
  if (refs.size === 0) return;
  const instructions = Array.from(refs, ([ref, id]) => {
    if (!/^refs\/(?:keep-around|merge-requests|pipelines)\/[\w/]+$/.test(ref))
      throw new GitError('update-ref', 129, `not a ref of ours: ${ref}`);
    return id === null ? `delete ${ref}\0\0` : `update ${ref}\0${fullId(id)}\0\0`;
  });
  const input = instructions.join('');
  await pastStaleLocks(repository, () => git(repository, 'update-ref', ['--stdin', '-z'], [], [], { input }));
}
