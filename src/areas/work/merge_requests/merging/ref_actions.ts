/** The commit that merging would create, for testing it (docs/reference/merge_requests.md#merging). */
import { mergeRequestRef, readCommit, repositoryOf, writeTreeCommit } from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import { keepRefs } from '../../../code/repository/index.ts';
import { factsOf } from '../branch_queries.ts';
import { checkBranches, storeCheck } from './status_git.ts';

/**
 * Sets `refs/merge-requests/<iid>/merge` for the current branches. The commit depends only on them, so repeating this gives the same commit.
 * @returns its id; undefined if the merge request is not open or cannot be merged
 */
export async function refreshMergeRef(
  services: Pick<Services, 'db' | 'storages'>,
  id: number,
): Promise<string | undefined> {
  const facts = await factsOf(services.db, id);
  if (facts.state !== 'opened') return undefined;
  const check = await checkBranches(services, facts, { wants_tree: true });
  await storeCheck(services.db, facts, check);
  const { source_head, target_head, fit, tree_id } = check;
  if (source_head === undefined || target_head === undefined || fit === 'no_commits' || fit === 'conflict')
    return undefined;
  const repository = repositoryOf(services, facts.target);
  const [source, target] = await Promise.all([
    readCommit(repository, source_head),
    readCommit(repository, target_head),
  ]);
  const date = new Date(Math.max(Date.parse(source.committed_date), Date.parse(target.committed_date)));
  const person = { name: 'Coppice', email: 'coppice', date };
  const commit_id = await writeTreeCommit(repository, {
    tree_id: tree_id ?? source.tree_id,
    parent_ids: [target_head, source_head],
    message: `Merge ${source_head} into ${target_head}`,
    author: person,
    committer: person,
  });
  return services.db.transaction().execute(async (tx) => {
    // Locked, so that a merge request being deleted leaves no ref.
    const still = await tx
      .selectFrom('merge_requests')
      .select('id')
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!still) return undefined;
    await keepRefs(tx, services, facts.target, new Map([[mergeRequestRef(facts.iid, 'merge'), commit_id]]));
    return commit_id;
  });
}
