/** Branches of a fork that members of the target project may push to (docs/reference/merge_requests.md#collaboration). */
import { openCollaborations, type Project, projectFor } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import type { RefUpdate } from '../../../../git/index.ts';
import { protectionFor } from '../../protected_branches/queries.ts';

/** The most merge requests of a branch that are checked. */
const maximumAsked = 5;

/** Whether an open merge request of the branch allows collaboration by users who may merge it, and the caller is one. */
export async function mayCollaborate(
  db: Database,
  fork: Pick<Project, 'id'>,
  caller: { id: number; admin: boolean },
  branch: string,
): Promise<boolean> {
  const open = await openCollaborations(db, fork, branch, maximumAsked);
  const answers = open.map(async ({ project_id, target_branch }) => {
    const target = await projectFor(db, caller, String(project_id));
    if (!target || target.read_only) return false;
    const { may_merge, may_push } = (await protectionFor(db, target, caller))(target_branch);
    return may_merge || may_push;
  });
  return (await Promise.all(answers)).includes(true);
}

/** Whether the caller may make these updates as a collaborator: each must change an existing branch without deleting it. */
export async function areCollaborations(
  db: Database,
  fork: Pick<Project, 'id'>,
  caller: { id: number; admin: boolean },
  updates: readonly RefUpdate[],
): Promise<boolean> {
  const branches = updates.map(({ ref, old, new: target }) =>
    old === null || target === null ? undefined : /^refs\/heads\/(.+)$/s.exec(ref)?.[1],
  );
  if (branches.length > maximumAsked) return false;
  const answers = branches.map(
    async (branch) => branch !== undefined && (await mayCollaborate(db, fork, caller, branch)),
  );
  return answers.length > 0 && (await Promise.all(answers)).every(Boolean);
}
