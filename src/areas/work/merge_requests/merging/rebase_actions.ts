/** Requests a rebase (docs/reference/merge_requests.md#rebasing). */
import { sql } from 'kysely';
import { projectFor } from '../../../../access/index.ts';
import { repositoryOf, resolveBranch } from '../../../../git/index.ts';
import { type Caller, conflict, forbidden, notAllowed, type Services } from '../../../../http/index.ts';
import { protectionFor } from '../../../code/protected_branches/index.ts';
import { mayCommitTo } from '../../../code/repository/index.ts';
import type { MergeFacts } from '../branch_queries.ts';
import { rebaseSource } from './rebase_jobs.ts';
import { isRebasing } from './rebase_queries.ts';

const busyText = 'The merge request is being rebased or merged. Try again later.';

/** The documented refusals. */
export const rebaseTexts = {
  403: [
    '403 Forbidden - Source branch does not exist',
    '403 Forbidden - Cannot push to source branch',
    '403 Forbidden - Source branch is protected from force push',
  ],
  405: '405 Method Not Allowed',
  409: busyText,
};

/**
 * Starts a job that rebases the source branch of a merge request on its target branch.
 * @param services `db` is the transaction of the change
 * @throws ApiError 403 if the caller may not rebase the source branch, 405 if it is closed or merged, 409 if a rebase or a merge is running
 */
export async function rebaseMergeRequest(
  { db: tx, storages }: Pick<Services, 'db' | 'storages'>,
  caller: Caller,
  facts: MergeFacts & { skip_ci?: boolean },
): Promise<void> {
  if (facts.state === 'closed' || facts.state === 'merged') throw notAllowed();
  await refuseRebase({ db: tx, storages }, caller, facts);
  const begun = await tx
    .updateTable('merge_requests')
    .set({ rebase_started_at: sql<string>`now()`, merge_error: null })
    .where('id', '=', facts.id)
    .where('state', '=', 'opened')
    .where(sql<boolean>`not ${isRebasing('merge_requests')}`)
    .returning('id')
    .executeTakeFirst();
  if (!begun) throw conflict(busyText);
  await rebaseSource.enqueue(tx, {
    merge_request_id: facts.id,
    user_id: caller.id,
    ...(facts.skip_ci && { skip_ci: true }),
  });
}

async function refuseRebase(
  services: Pick<Services, 'db' | 'storages'>,
  caller: Caller,
  { source, source_branch }: MergeFacts,
): Promise<void> {
  const project = source && (await projectFor(services.db, caller, String(source.id)));
  if (!source || (await resolveBranch(repositoryOf(services, source), source_branch)) === undefined)
    throw forbidden('Source branch does not exist');
  if (!project || project.read_only || !(await mayCommitTo(services, { project, caller }, source_branch)))
    throw forbidden('Cannot push to source branch');
  if (!(await protectionFor(services.db, project, caller))(source_branch).allows_force_push)
    throw forbidden('Source branch is protected from force push');
}
