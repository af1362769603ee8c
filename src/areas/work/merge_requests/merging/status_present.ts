/** A merge request with its current merge status, and with members sent only on request. */
import type { MaybeCaller, Project } from '../../../../access/index.ts';
import { countCommits, repositoryOf } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import { factsOf } from '../branch_queries.ts';
import { presentSingleMergeRequest, type SingleForm } from '../present.ts';
import { checkBranches, refreshStatus } from './status_git.ts';

/** The highest count. */
const maximumDiverged = 10_000;

/** The number of commits in the target branch that the source branch lacks; 0 if one of them is missing. */
async function divergedCommits(services: Pick<Services, 'db' | 'storages'>, id: number): Promise<number> {
  const facts = await factsOf(services.db, id);
  const { source_head, target_head } = await checkBranches(services, facts);
  if (source_head === undefined || target_head === undefined) return 0;
  const range = { from: [target_head], not: [source_head], limit: maximumDiverged };
  return countCommits(repositoryOf(services, facts.target), range);
}

/**
 * The full form of a merge request. Its merge status is computed if its branches have moved since the last time.
 * @param form requested additional members
 */
export async function presentWithStatus(
  services: Pick<Services, 'db' | 'storages' | 'url'>,
  caller: MaybeCaller,
  project: Project,
  id: number,
  { include_diverged_commits_count, ...form }: SingleForm & { include_diverged_commits_count?: boolean } = {},
): ReturnType<typeof presentSingleMergeRequest> {
  const detailed_merge_status = await refreshStatus(services, id);
  const shown = await presentSingleMergeRequest(services, caller, project, id, form);
  const diverged_commits_count = include_diverged_commits_count ? await divergedCommits(services, id) : undefined;
  return {
    ...shown,
    detailed_merge_status,
    ...(diverged_commits_count === undefined ? {} : { diverged_commits_count }),
  };
}
