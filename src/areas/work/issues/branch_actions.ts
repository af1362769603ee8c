/** Starts work on an issue, with a branch and a merge request that closes it. */
import { Type } from 'typebox';
import { levels, mayReadCode, mayUse, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { isValidBranchName, refRetries } from '../../../git/index.ts';
import { Id } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import type { Acting } from '../../conversation/quick_actions/index.ts';
import { branchFor } from './branch_rules.ts';

/** The job that creates the branch and the merge request. The area of merge requests, which this area does not import, runs it. */
export const startMergeRequest = queueOf('start_merge_request', {
  input: { issue_id: Id, user_id: Id, branch: Type.String() },
  retries: refRetries,
});

/**
 * Enqueues a job that creates a branch and a merge request for an issue.
 * @param branch the name of the branch; if blank, it is derived from the issue
 * @returns false if the caller may not push or create merge requests, or if the name is not a valid branch name
 */
export async function beginMergeRequest(
  tx: Database,
  { caller }: Acting,
  project: Project,
  issue_id: number,
  branch: string,
): Promise<boolean> {
  const may = project.access_level >= levels.developer && mayReadCode(project) && mayUse(project, 'merge_requests');
  if (!may || project.read_only) return false;
  const { iid, title, confidential } = await tx
    .selectFrom('issues')
    .select(['iid', 'title', 'confidential'])
    .where('id', '=', issue_id)
    .executeTakeFirstOrThrow();
  const name = branch === '' ? branchFor({ iid, title, confidential }) : branch;
  if (!isValidBranchName(name)) return false;
  await startMergeRequest.enqueue(tx, { issue_id, user_id: caller.id, branch: name });
  return true;
}
