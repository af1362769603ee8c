/** Rebases source branches in the background (docs/reference/merge_requests.md#rebasing). */
import { Type } from 'typebox';
import { callerInJob, type Project, projectFor } from '../../../../access/index.ts';
import { fetchCommit, isAncestor, rebaseCommits, repositoryOf, resolveBranch } from '../../../../git/index.ts';
import { ApiError, type Caller, Id, optional, type Services, textOf } from '../../../../http/index.ts';
import { job } from '../../../../jobs/index.ts';
import { linkObjects } from '../../../code/lfs/index.ts';
import { inTurn, moveRefs, projectRepositories, pushRefusals, sealedOptions } from '../../../code/repository/index.ts';
import { factsOf, type MergeFacts, mergeFacts } from '../branch_queries.ts';

const conflictText = 'Rebase failed: Rebase locally, resolve all conflicts, then push the branch.';

/** If it runs again after a crash, it finds the branch rebased, or rebases it then. */
export const rebaseSource = job('rebase_source_branch', {
  input: { merge_request_id: Id, user_id: Id, skip_ci: optional(Type.Boolean()) },
  retries: 2,
  run: async ({ input: { merge_request_id, user_id, skip_ci = false }, log, ...services }) => {
    const [facts] = await mergeFacts(services.db, [merge_request_id]);
    if (!facts) return;
    const merge_error = await rebase(services, { ...facts, skip_ci }, user_id).catch((error: unknown) => {
      if (error instanceof ApiError) return `Rebase failed: ${textOf(error)}`;
      log.error({ err: error }, 'a rebase met an error');
      return conflictText;
    });
    await services.db
      .updateTable('merge_requests')
      .set({ rebase_started_at: null, merge_error: merge_error ?? null })
      .where('id', '=', merge_request_id)
      .execute();
  },
});

interface Rebased extends MergeFacts {
  /** Whether the rebased branch starts no jobs. */
  skip_ci: boolean;
}

/** @returns the reason if it failed */
async function rebase(services: Services, facts: Rebased, user_id: number): Promise<string | undefined> {
  const caller = await callerInJob(services, user_id);
  const project = caller && facts.source && (await projectFor(services.db, caller, String(facts.source.id)));
  if (!caller || !project) return 'Rebase failed: You are not allowed to push into this branch';
  const repository = repositoryOf(services, project);
  return inTurn(repository, facts.source_branch, () => attempt(services, { facts, caller, project }));
}

/** @throws RefMoved if the source branch has moved meanwhile */
async function attempt(
  services: Services,
  { facts, caller, project }: { facts: Rebased; caller: Caller; project: Project },
): Promise<string | undefined> {
  const { state } = await factsOf(services.db, facts.id);
  const [into, from] = [repositoryOf(services, facts.target), repositoryOf(services, project)];
  const [onto, head] = await Promise.all([
    resolveBranch(into, facts.target_branch),
    resolveBranch(from, facts.source_branch),
  ]);
  if (state !== 'opened' || onto === undefined || head === undefined) return conflictText;
  if (project.id !== facts.target.id) {
    await fetchCommit(into, from, onto);
    const link = { from_project_id: facts.target.id, project_id: project.id, repository: from, commit_id: onto };
    await linkObjects(services.db, link);
  }
  if (await isAncestor(from, onto, head)) return undefined;
  const committer = { name: caller.name, email: caller.commit_email };
  const rebased = await rebaseCommits(from, { head, onto, committer });
  if (!('head' in rebased)) return conflictText;
  const update = { ref: `refs/heads/${facts.source_branch}`, old: head, new: rebased.head };
  const [refusal] = await pushRefusals(services, { project, caller }, [update]);
  if (refusal !== undefined) return `Rebase failed: ${refusal}`;
  const push_options = facts.skip_ci ? { push_options: sealedOptions(services, ['ci.skip']) } : {};
  const mover = { kind: projectRepositories, owner: project, user_id: caller.id, ...push_options };
  await moveRefs(services, mover, [update]);
  return undefined;
}
