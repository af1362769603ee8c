/** The large files of a fork, which its merge requests bring into the target (docs/reference/merge_requests.md#large-files). */
import { repositoryOf } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import { linkObjects } from '../../../code/lfs/index.ts';
import type { MergeFacts } from '../branch_queries.ts';

/**
 * Gives the target the large files of the source that the head of the source branch brings.
 * @param head which the repository of the target has
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
