/** Creates merge requests from issues. */
import { callerInJob, mayReadCode, mayUse, type Project, projectFor } from '../../../../access/index.ts';
import { repositoryOf, resolveBranch } from '../../../../git/index.ts';
import { ApiError, type Caller, type Services } from '../../../../http/index.ts';
import { createBranch } from '../../../code/repository/index.ts';
import { startMergeRequest } from '../../issues/branch_actions.ts';
import { createMergeRequest } from '../creation_actions.ts';

/** @throws ApiError if the branch exists, unless it has no commits of its own: an interrupted earlier run of the job may have created it */
async function makeBranch(services: Services, project: Project, caller: Caller, branch: string): Promise<void> {
  const repository = repositoryOf(services, project);
  const { default_branch } = project;
  const found = await resolveBranch(repository, branch);
  if (found !== undefined && found === (await resolveBranch(repository, default_branch))) return;
  await createBranch(services, { project, caller, branch, ref: default_branch });
}

/** Enqueued by the quick action `/create_merge_request`. The user's rights when the job runs apply; nothing is created beyond them. */
export const openMergeRequest = startMergeRequest.runBy(
  async ({ input: { issue_id, user_id, branch }, log: _log, signal: _signal, ...services }) => {
    const { db, storages, url } = services;
    const issue = await db
      .selectFrom('issues')
      .select(['iid', 'title', 'project_id'])
      .where('id', '=', issue_id)
      .executeTakeFirst();
    const caller = await callerInJob(services, user_id);
    const project = issue && caller && (await projectFor(db, caller, String(issue.project_id)));
    if (!project || project.read_only || !mayReadCode(project) || !mayUse(project, 'merge_requests')) return;
    const { plan } = caller;
    const between = { source: project, source_branch: branch, target: project, target_branch: project.default_branch };
    try {
      await makeBranch(services, project, caller, branch);
      await createMergeRequest(services, { caller, plan, storages, url }, between, {
        title: `Draft: Resolve "${issue.title}"`.slice(0, 255),
        description: `Closes #${issue.iid}`,
        assignee_ids: [caller.id],
        reviewer_ids: [],
        labels: [],
        creates_labels: false,
      });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  },
);
