/** Large files of forks that merge requests bring into the target project (docs/reference/merge_requests.md#large-files). */
import { repositoryOf } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import { linkObjects } from '../../../code/lfs/index.ts';
import type { MergeFacts } from '../branch_queries.ts';

/**
 * Links the large files of the source project that the head of the source branch refers to to the target project.
 * @param head must be in the repository of the target project
 */
export async function linkLargeFiles(
  { db, storages }: Pick<Services, 'db' | 'storages'>,
  { source, target }: Pick<MergeFacts, 'source' | 'target'>,
  head: string,
): Promise<void> {
  if (!source) return;
  const repository = repositoryOf({ storages }, target);
  await linkObjects(db, { from_project_id: source.id, project_id: target.id, repository, commit_id: head });
}
