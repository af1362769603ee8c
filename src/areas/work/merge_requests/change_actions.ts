/** Changing merge requests. */
import { sql, type Updateable } from 'kysely';
import { mergeRequestKind, type Project, theMergeRequest } from '../../../access/index.ts';
import type { Database, DB } from '../../../db/index.ts';
import { type ChangesOf, givenColumns, hookChanges } from '../../../fields/index.ts';
import { found, invalid } from '../../../http/index.ts';
import { addNotification } from '../../activity/notifications/index.ts';
import { retryWaiting } from '../../code/commit_statuses/index.ts';
import type { Acting } from '../../conversation/quick_actions/index.ts';
import { labelsAfter, labelsOf } from '../../planning/labels/index.ts';
import {
  changedColumns,
  recordEffects,
  taskColumns,
  writeAssignees,
  writeLabels,
  writeReviewers,
} from '../issuables/change_actions.ts';
import type { IssuableState } from '../issuables/definition.ts';
import { resetOutdated } from './approvals/actions.ts';
import { refuseDuplicate, refuseSameBranch } from './branch_pair_actions.ts';
import { addClosedIssues } from './closing/actions.ts';
import { readClosedIssues } from './closing/jobs.ts';
import { mergeRequestFields } from './fields.ts';
import { uncheckedAgain } from './merging/status_git.ts';
import { isDraft, type State, withoutDraft, wordsForBranch, wordsForDraft } from './rules.ts';
import { addVersion, headsOf } from './versions/actions.ts';
import { followThreads } from './versions/follow_jobs.ts';
import { prepareMergeRequest } from './versions/jobs.ts';

/** The changes. Omitted members keep their values. The caller may make all of them, and all are valid. */
export interface MergeRequestChanges extends ChangesOf<typeof mergeRequestFields, 'merge_requests'> {
  state_event?: 'close' | 'reopen' | undefined;
  /** The new lists of assignees and reviewers. */
  assignee_ids?: readonly number[] | undefined;
  reviewer_ids?: readonly number[] | undefined;
  /** The reviewers to request a new review from. */
  review_again_ids?: readonly number[] | undefined;
  /** Titles of labels. `labels` replaces all, then `add_labels` and `remove_labels` are applied. */
  labels?: readonly string[] | undefined;
  add_labels?: readonly string[] | undefined;
  remove_labels?: readonly string[] | undefined;
  /** Whether missing labels are created in the project; otherwise they are ignored. */
  creates_labels?: boolean;
}

const plainColumns = givenColumns(mergeRequestFields);

const lockedMergeRequest = async (tx: Database, id: number) =>
  found(
    undefined,
    await tx
      .selectFrom('merge_requests')
      .select([...plainColumns, 'state', 'project_id', 'source_project_id', 'source_branch', 'head_commit_id'])
      .select([peopleOf('assignees').as('assignee_ids'), peopleOf('reviewers').as('reviewer_ids')])
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst(),
  );
type LockedMergeRequest = Awaited<ReturnType<typeof lockedMergeRequest>>;

const peopleOf = (of: 'assignees' | 'reviewers') =>
  sql<
    number[]
  >`array(select user_id from ${sql.table(`merge_request_${of}`)} where merge_request_id = merge_requests.id)::bigint[]`;

/** The columns whose values change. */
async function columnsFrom(
  before: LockedMergeRequest,
  changes: MergeRequestChanges,
  closer_id: number,
): Promise<Updateable<DB['merge_requests']>> {
  const columns: Updateable<DB['merge_requests']> = {};
  Object.assign(columns, changedColumns(plainColumns, before, changes, closer_id));
  Object.assign(columns, await taskColumns(columns));
  // A closed merge request must not be merged when its checks pass.
  if (columns.state === 'closed') Object.assign(columns, { auto_merge_user_id: null, auto_merge_parameters: null });
  if (columns.state === 'opened' || columns.target_branch !== undefined)
    Object.assign(columns, { merge_status: uncheckedAgain, merge_error: null });
  return columns;
}

/**
 * Reads the branches again when it is reopened or gets another target, because they may have moved.
 * @throws ApiError 400 by the field of the missing branch
 */
async function addVersionAfter(
  tx: Database,
  { storages, caller }: Acting,
  id: number,
  row: LockedMergeRequest,
  target_branch: string,
): Promise<void> {
  const projects = await tx
    .selectFrom('projects')
    .select(['id', 'storage'])
    .where('id', 'in', [row.project_id, row.source_project_id ?? row.project_id])
    .execute();
  const source = projects.find((project) => project.id === row.source_project_id);
  const target = projects.find((project) => project.id === row.project_id);
  if (!source || !target) throw invalid({ source_branch: ['does not exist'] });
  const heads = await headsOf({ storages }, { source, source_branch: row.source_branch, target, target_branch });
  await addVersion(tx, id, heads);
  const isMoved = target_branch !== row.target_branch;
  if (isMoved) await resetOutdated(tx, id, caller.id, 'by changing the target branch');
  else if (heads.head !== row.head_commit_id) await resetOutdated(tx, id, caller.id, 'by pushing to the branch');
  await prepareMergeRequest.enqueue(tx, { merge_request_id: id });
  await followThreads.enqueue(tx, { merge_request_id: id, user_id: caller.id });
}

/** The labels before and after. */
async function labelsChanged(
  tx: Database,
  { plan }: Acting,
  id: number,
  project_id: number,
  changes: MergeRequestChanges,
) {
  const borne = await labelsOf(tx, mergeRequestKind, id);
  const borneAfter = await labelsAfter(tx, { project_id }, borne, changes, {
    create: changes.creates_labels ?? false,
    plan,
  });
  return { before: borne.map((label) => label.id), after: borneAfter.map((label) => label.id) };
}

/** Requests reviews again. @returns whether there was a reviewer to ask */
async function askAgain(tx: Database, merge_request_id: number, user_ids: readonly number[]): Promise<boolean> {
  if (user_ids.length === 0) return false;
  const again = tx
    .updateTable('merge_request_reviewers')
    .set({ state: 'unreviewed' })
    .where('state', '<>', 'unreviewed');
  const rows = again.where('merge_request_id', '=', merge_request_id).where('user_id', 'in', user_ids);
  return (await rows.returning('user_id').execute()).length > 0;
}

const stateFrom = (row: LockedMergeRequest, label_ids: readonly number[]): IssuableState => ({
  ...row,
  // Draft changes have their own system note.
  title: withoutDraft(row.title),
  state: row.state as State,
  label_ids,
});

const ownWords = (before: LockedMergeRequest, after: LockedMergeRequest): string[] => [
  ...(isDraft(before.title) === isDraft(after.title) ? [] : [wordsForDraft(isDraft(after.title))]),
  ...(before.target_branch === after.target_branch ? [] : [wordsForBranch(before.target_branch, after.target_branch)]),
];

/** The changes that webhooks list. */
const toldChanges = (before: LockedMergeRequest, after: LockedMergeRequest) => ({
  ...hookChanges(mergeRequestFields, before, after),
  ...(isDraft(before.title) === isDraft(after.title)
    ? {}
    : { draft: { previous: isDraft(before.title), current: isDraft(after.title) } }),
});

/** @throws ApiError 400 for a new target of a merged or merging merge request, 409 if the target is its own source branch */
function checkTarget(row: LockedMergeRequest, { target_branch }: Updateable<DB['merge_requests']>): void {
  if (target_branch === undefined) return;
  if (row.state === 'merged' || row.state === 'locked') throw invalid({ target_branch: ['cannot be changed'] });
  refuseSameBranch({ ...row, target_branch });
}

/**
 * Changes a merge request, with all effects: system notes, resource events, activity events and to-do items. A value that stays the same has no effects and is not a change.
 * @param tx the transaction of the change, which locks the merge request
 * @param project the target project
 * @throws ApiError 404 if it is deleted, 400 for missing branches, 409 if both branches are the same, or if another open merge request has them
 */
export async function changeMergeRequest(
  tx: Database,
  acting: Acting,
  project: Pick<Project, 'id'>,
  id: number,
  changes: MergeRequestChanges,
): Promise<void> {
  const row = await lockedMergeRequest(tx, id);
  const columns = await columnsFrom(row, changes, acting.caller.id);
  checkTarget(row, columns);
  const labels = await labelsChanged(tx, acting, id, project.id, changes);
  const after = { ...row, ...columns } as LockedMergeRequest;
  after.assignee_ids = [...(changes.assignee_ids ?? row.assignee_ids)];
  after.reviewer_ids = [...(changes.reviewer_ids ?? row.reviewer_ids)];
  const on = theMergeRequest(id);
  const written = [
    await writeLabels(tx, on, labels),
    await writeAssignees(tx, on, { before: row.assignee_ids, after: after.assignee_ids }),
    await writeReviewers(tx, on, { before: row.reviewer_ids, after: after.reviewer_ids }),
    await askAgain(tx, id, changes.review_again_ids ?? []),
  ];
  if (!written.includes(true) && Object.keys(columns).length === 0) return;
  await write(tx, id, row, columns);
  // An auto-merge may have waited for a reviewer who requested changes.
  if (written[2] || written[3]) await retryWaiting(tx, { project_id: project.id, merge_request_id: id });
  if (columns.state === 'opened' || columns.target_branch !== undefined)
    await addVersionAfter(tx, acting, id, row, after.target_branch);
  if (columns.description) await addClosedIssues(tx, acting.caller, id);
  if (columns.description !== undefined) await readClosedIssues.enqueue(tx, { merge_request_id: id });
  const [from, to] = [stateFrom(row, labels.before), stateFrom(after, labels.after)];
  // For notes and to-do items, a reviewer who is asked again counts as a new reviewer.
  if (written[3])
    from.reviewer_ids = row.reviewer_ids.filter((user_id) => !changes.review_again_ids?.includes(user_id));
  const differences = { words: ownWords(row, after), also: toldChanges(row, after) };
  await recordEffects(tx, acting, {
    on,
    project_id: project.id,
    from,
    to,
    ...differences,
    is_new: false,
    at: undefined,
  });
  const news = { target_type: 'MergeRequest', target_id: id, actor_id: acting.caller.id, user_ids: [] };
  if (isDraft(row.title) && !isDraft(after.title)) await addNotification(tx, { ...news, event: 'ready_merge_request' });
}

/** @throws ApiError 409 */
async function write(
  tx: Database,
  id: number,
  row: LockedMergeRequest,
  columns: Updateable<DB['merge_requests']>,
): Promise<void> {
  const { source_project_id, source_branch, project_id, target_branch } = { ...row, ...columns };
  const opens = columns.state === 'opened' || (columns.target_branch !== undefined && row.state === 'opened');
  if (opens) await refuseDuplicate(tx, { source_project_id, source_branch, project_id, target_branch });
  await tx
    .updateTable('merge_requests')
    .set({ ...columns, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute();
}
