/** The effects of a merge, however it was made (docs/reference/merge_requests.md#merging). */
import { callerInJob, projectFor, theMergeRequest } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { keepAroundRef, RefMoved, refRetries, repositoryOf, resolveBranch } from '../../../../git/index.ts';
import { type Caller, Id, type Services } from '../../../../http/index.ts';
import { queueOf } from '../../../../jobs/index.ts';
import { recordEvent } from '../../../activity/events/index.ts';
import { doneTodos } from '../../../activity/todos/index.ts';
import { protectionFor } from '../../../code/protected_branches/index.ts';
import { keepRefs, moveRefs, projectRepositories, pushRefusals } from '../../../code/repository/index.ts';
import { recordStateEvent } from '../../../conversation/resource_events/index.ts';
import { tellOfMergeRequest } from '../../issuables/hooks/actions.ts';
import { changeIssue } from '../../issues/change_actions.ts';
import { committersIn } from '../approvals/state_git.ts';
import { wakeBlocked } from '../blocks/actions.ts';
import { type MergeFacts, mergeFacts } from '../branch_queries.ts';
import { closingTexts, issuesClosedBy } from '../closing/git.ts';
import { writeViolations } from './violation_actions.ts';

/** Writes the effects of a merge. They are written once, however often this runs. */
export async function concludeMerged(services: Services, id: number): Promise<void> {
  const [facts] = await mergeFacts(services.db, [id]);
  if (!facts) return;
  const merger = facts.merge_user_id === null ? undefined : await callerInJob(services, facts.merge_user_id);
  const texts = merger ? await closingTexts(services, facts) : [];
  const committer_ids = await committersIn(services, id);
  await services.db.transaction().execute(async (tx) => {
    const merged = await tx
      .updateTable('merge_requests')
      .set({ merge_unconcluded: false })
      .where('id', '=', id)
      .where('merge_unconcluded', '=', true)
      .returning(['project_id', 'merge_user_id', 'merged_at'])
      .$narrowType<{ merged_at: string }>()
      .executeTakeFirst();
    if (!merged) return;
    await keepQueue.enqueue(tx, { merge_request_id: id }, { key: String(id) });
    const { project_id, merge_user_id: author_id, merged_at: created_at } = merged;
    const on = theMergeRequest(id);
    await recordStateEvent(tx, on, { user_id: author_id, created_at }, 'merged');
    await recordEvent(tx, {
      project_id,
      author_id,
      action: 'merged',
      target_type: 'MergeRequest',
      target_id: id,
      created_at,
    });
    if (author_id !== null) {
      await doneTodos(tx, on, author_id);
      await tellOfMergeRequest(tx, { id, project_id, actor_id: author_id, action: 'merge' });
    }
    await writeViolations(tx, id, committer_ids);
    await wakeBlocked(tx, id);
    if (merger) await closeIssues(tx, services, merger, facts, texts);
  });
  // Last, because this fails while its ref is locked, which may take minutes.
  if (merger && facts.should_remove_source_branch) await removeSourceBranch(services, merger, facts);
}

/** Keeps the merged commits, in a separate job: a lock on one of these refs must not delay the other effects of a merge. */
export const keepQueue = queueOf('keep_merge', { input: { merge_request_id: Id }, retries: refRetries });

/** Keeps the merged commits, even if the target branch is later moved away from them. */
export async function keepMerge(services: Pick<Services, 'db' | 'storages'>, id: number): Promise<void> {
  const [facts] = await mergeFacts(services.db, [id]);
  if (!facts) return;
  const merged = await services.db
    .selectFrom('merge_requests')
    .select(['head_commit_id', 'merge_commit_sha', 'squash_commit_sha'])
    .where('id', '=', id)
    .executeTakeFirst();
  const ids = Object.values(merged ?? {}).filter((commit_id) => commit_id !== null);
  const refs = new Map(ids.map((commit_id) => [keepAroundRef(commit_id), commit_id]));
  await services.db.transaction().execute((tx) => keepRefs(tx, services, facts.target, refs));
}

async function closeIssues(
  tx: Database,
  services: Pick<Services, 'url' | 'storages'>,
  caller: Caller,
  { target }: MergeFacts,
  texts: readonly string[],
): Promise<void> {
  for (const { id, project_id } of await issuesClosedBy(tx, caller, target.full_path, texts))
    await changeIssue(
      tx,
      { caller, url: services.url, storages: services.storages, plan: caller.plan },
      { id: project_id },
      id,
      {
        state_event: 'close',
      },
    );
}

/** Removes the source branch if its head is the merged one, it is not protected, and the merger may push to it. */
async function removeSourceBranch(
  services: Services,
  caller: Caller,
  { source, source_branch, head_commit_id }: MergeFacts,
): Promise<void> {
  const project = source && (await projectFor(services.db, caller, String(source.id)));
  if (!project || head_commit_id === null) return;
  if ((await resolveBranch(repositoryOf(services, project), source_branch)) !== head_commit_id) return;
  if ((await protectionFor(services.db, project, caller))(source_branch).is_protected) return;
  const update = { ref: `refs/heads/${source_branch}`, old: head_commit_id, new: null };
  if ((await pushRefusals(services, { project, caller }, [update])).length > 0) return;
  try {
    await moveRefs(services, { kind: projectRepositories, owner: project, user_id: caller.id }, [update]);
  } catch (error) {
    // Someone has pushed to it since, so it stays.
    if (!(error instanceof RefMoved)) throw error;
  }
}
