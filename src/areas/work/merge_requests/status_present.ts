/** A merge request with its merge status as it is now. */
import type { MaybeCaller, Project } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';
import { presentSingleMergeRequest } from './present.ts';
import { refreshStatus } from './status_queries.ts';

/** The full form of a merge request. Its merge status is computed if its branches have moved since it was. */
export async function presentWithStatus(
  services: Pick<Services, 'db' | 'storages' | 'url'>,
  caller: MaybeCaller,
  project: Project,
  id: number,
): ReturnType<typeof presentSingleMergeRequest> {
  const detailed_merge_status = await refreshStatus(services, id);
  return { ...(await presentSingleMergeRequest(services, caller, project, id)), detailed_merge_status };
}
