/** Approves merge requests, and revokes approvals (docs/reference/approvals.md). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { mayApproveMergeRequests, type Project, planInForce, theMergeRequest } from '../../../../access/index.ts';
import { type Database, isAmong } from '../../../../db/index.ts';
import { repositoryOf } from '../../../../git/index.ts';
import { ApiError, type Caller, conflict, type Services, unauthorized } from '../../../../http/index.ts';
import { recordEvent } from '../../../activity/events/index.ts';
import { doneTodos } from '../../../activity/todos/index.ts';
import { mergeWhenReady } from '../../../code/commit_statuses/index.ts';
import { addSystemNote } from '../../../conversation/notes/index.ts';
import { hooksForMergeRequest, tellOfMergeRequest } from '../../issuables/hooks/actions.ts';
import type { MergeFacts } from '../branch_queries.ts';
import { shaText } from '../rules.ts';
import { ownerIds, ownersOfChanges } from './code_owner_git.ts';
import { tellOfPolicies } from './message_jobs.ts';
import { wordsForReset } from './rules.ts';
import { settingInForce } from './setting_queries.ts';
import { approvalStateOf, approvalTermsOf, basisOf } from './state_git.ts';

export interface Approving extends Pick<Services, 'storages'> {
  /** The target project, with the caller's level. */
  project: Project;
  caller: Caller;
  merge_request_id: number;
  /** The head of the source branch as the caller saw it. */
  sha?: string | undefined;
  /** Whether the caller has entered their password. */
  has_password?: boolean;
}

const locked = (tx: Database, id: number) =>
  tx
    .selectFrom('merge_requests')
    .select(['project_id', 'state', 'head_commit_id', 'auto_merge_user_id'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();

/** @returns whether this is the caller's first approval */
async function addApproval(tx: Database, id: number, user_id: number): Promise<boolean> {
  const { rows } = await sql`
    with added as (
      insert into merge_request_approvals (merge_request_id, user_id) values (${id}, ${user_id})
      on conflict do nothing returning user_id
    ), reviewed as (
      update merge_request_reviewers set state = 'approved'
       where merge_request_id = ${id} and user_id in (select user_id from added)
    ), touched as (
      update merge_requests set updated_at = now() where id = ${id} and exists (select from added)
    )
    select from added`.execute(tx);
  return rows.length > 0;
}

/**
 * Approves an open merge request, with all effects.
 * @param tx the transaction of the approval, which locks the merge request
 * @throws ApiError 401 if the caller may not approve it or has approved it already, 409 if the latest version has another head
 */
export async function approveMergeRequest(tx: Database, approving: Approving): Promise<void> {
  const { project, caller, merge_request_id: id, storages, sha, has_password } = approving;
  const terms = await approvalTermsOf({ db: tx, storages }, id);
  const row = await locked(tx, id);
  if (row?.state !== 'opened' || !mayApproveMergeRequests(project) || terms.barred_ids.includes(caller.id))
    throw unauthorized();
  if (terms.plan !== 'free' && terms.require_password_to_approve && !has_password) throw unauthorized();
  if (sha !== undefined && sha !== row.head_commit_id) throw conflict(shaText(row.head_commit_id ?? ''));
  if (!(await addApproval(tx, id, caller.id))) throw unauthorized();
  const on = theMergeRequest(id);
  await addSystemNote(tx, on, caller.id, 'approved this merge request');
  const event = { project_id: project.id, author_id: caller.id, target_type: 'MergeRequest', target_id: id } as const;
  await recordEvent(tx, { ...event, action: 'approved' });
  await tellOfApproval(tx, approving, async () => ((await isApproved(tx, approving)) ? 'approved' : 'approval'));
  await doneTodos(tx, on, caller.id);
  await tellOfPolicies(tx, id);
  if (row.auto_merge_user_id !== null && row.head_commit_id !== null)
    await mergeWhenReady.enqueue(tx, { sha: row.head_commit_id });
}

/**
 * Revokes the caller's approval of an open merge request.
 * @param tx the transaction of the change, which locks the merge request
 * @throws ApiError 404 if there is none
 */
export async function unapproveMergeRequest(tx: Database, approving: Approving): Promise<void> {
  if (!(await withdrawApproval(tx, approving))) throw new ApiError(404, { message: '404 Not Found' });
}

/**
 * Revokes the caller's approval, if it exists.
 * @returns whether it existed
 */
export async function withdrawApproval(tx: Database, approving: Approving): Promise<boolean> {
  const { caller, merge_request_id: id } = approving;
  const row = await locked(tx, id);
  const removed = row?.state === 'opened' ? await removeApprovals(tx, id, sql`user_id = ${caller.id}`) : [];
  if (removed.length === 0) return false;
  await addSystemNote(tx, theMergeRequest(id), caller.id, 'unapproved this merge request');
  await tellOfPolicies(tx, id);
  await tellOfApproval(tx, approving, async () => ((await isApproved(tx, approving)) ? 'unapproval' : 'unapproved'));
  return true;
}

/** Whether a merge request has all required approvals; without rules, at least one. */
async function isApproved(tx: Database, { storages, merge_request_id: id }: Approving): Promise<boolean> {
  const { in_effect } = await approvalStateOf({ db: tx, storages }, id);
  if (in_effect.length > 0) return in_effect.every(({ approvals_left }) => approvals_left === 0);
  const given = tx.selectFrom('merge_request_approvals').select('user_id').where('merge_request_id', '=', id).limit(1);
  return (await given.executeTakeFirst()) !== undefined;
}

/** @param action computed only if a hook is subscribed */
async function tellOfApproval(
  tx: Database,
  { project, caller, merge_request_id: id }: Approving,
  action: () => Promise<string>,
) {
  const asking = await hooksForMergeRequest(tx, project.id);
  if (asking.length === 0) return;
  const item = { id, project_id: project.id, actor_id: caller.id, action: await action() };
  await tellOfMergeRequest(tx, item);
}

/**
 * Removes all approvals of an unmerged merge request, with a system note that names the approvers.
 * @param tx the transaction of the change, which locks the merge request
 * @param user_id the user who caused it
 * @param reason the end of the note, e.g. `by pushing to the branch`
 */
export async function resetApprovals(tx: Database, id: number, user_id: number | null, reason?: string): Promise<void> {
  const row = await locked(tx, id);
  const removed = row?.state === 'opened' || row?.state === 'closed' ? await removeApprovals(tx, id, sql`true`) : [];
  if (removed.length === 0) return;
  await addSystemNote(tx, theMergeRequest(id), user_id, wordsForReset(removed, reason));
  const news = { id, project_id: row!.project_id, actor_id: user_id, action: 'unapproved' };
  await tellOfMergeRequest(tx, news, reason === undefined ? {} : { system_action: 'approvals_reset_on_push' });
}

/** Removes all approvals after the approved content has changed, if the project is configured to and the plan allows it. */
export async function resetOutdated(tx: Database, id: number, user_id: number | null, reason: string): Promise<void> {
  const { plan, reset_approvals_on_push } = await basisOf(tx, id);
  if (plan !== 'free' && reset_approvals_on_push) await resetApprovals(tx, id, user_id, reason);
}

/**
 * Finds the owners of the files changed by a push, if the project removes only their approvals, the plan allows it, and the changed files have owners.
 * @returns a function that removes their approvals in the transaction that records the push
 */
export async function selectiveRemoval(
  { db, storages }: Pick<Services, 'db' | 'storages'>,
  { id, target, target_branch, version }: Pick<MergeFacts, 'id' | 'target' | 'target_branch' | 'version'>,
  to: { head: string; base: string | null },
): Promise<((tx: Database, user_id: number | null) => Promise<void>) | undefined> {
  const wanted = await db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select('merge_requests.id')
    .where('merge_requests.id', '=', id)
    .where(settingInForce('selective_code_owner_removals'))
    .where(sql<boolean>`${planInForce} <> 'free'`)
    .executeTakeFirst();
  if (!wanted || !version) return undefined;
  const from = { head: version.head_commit_sha, base: version.base_commit_sha };
  const rules = await ownersOfChanges(repositoryOf({ storages }, target), target_branch, from, to);
  if (rules.length === 0) return undefined;
  return async (tx, user_id) => {
    const ids = await ownerIds(tx, id, target.id, rules);
    const removed = await removeApprovals(tx, id, isAmong('user_id', ids, 'bigint[]'));
    const reason = 'by changing files that they own';
    if (removed.length === 0) return;
    await addSystemNote(tx, theMergeRequest(id), user_id, wordsForReset(removed, reason));
    const news = { id, project_id: target.id, actor_id: user_id, action: 'unapproval' };
    await tellOfMergeRequest(tx, news, { system_action: 'code_owner_approvals_reset_on_push' });
  };
}

/** @returns the user names of the former approvers */
async function removeApprovals(tx: Database, id: number, which: RawBuilder<SqlBool>): Promise<string[]> {
  const { rows } = await sql<{ username: string }>`
    with removed as (
      delete from merge_request_approvals where merge_request_id = ${id} and ${which} returning user_id
    ), reviewed as (
      update merge_request_reviewers set state = 'unapproved'
       where merge_request_id = ${id} and user_id in (select user_id from removed)
    ), touched as (
      update merge_requests set updated_at = now() where id = ${id} and exists (select from removed)
    )
    select username from users where id in (select user_id from removed) order by id`.execute(tx);
  return rows.map(({ username }) => username);
}
