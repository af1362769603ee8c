/** Reviews: publishes draft notes, and records the verdict of a reviewer (docs/reference/draft_notes.md#publishing). */
import { sql } from 'kysely';
import { type OnIssuable, type PlacedIssuable, projectOf, theMergeRequest } from '../../../../access/index.ts';
import { type Database, repeated, stamped } from '../../../../db/index.ts';
import { type Caller, found, type Plan, type Services } from '../../../../http/index.ts';
import { doneTodos } from '../../../activity/todos/index.ts';
import { retryWaiting } from '../../../code/commit_statuses/index.ts';
import { addComment, addSystemNote, checkedComment, markResolved } from '../../../conversation/notes/index.ts';
import type { NounWith } from '../../issuables/definition.ts';
import { tellOfMergeRequest } from '../../issuables/hooks/actions.ts';
import { withdrawApproval } from '../approvals/actions.ts';
import { type DraftNoteRow, draftColumns, maximumDrafts } from './draft_note_queries.ts';

/** The context of publishing, besides the drafts. */
export type Publishing = Pick<Services, 'storages' | 'url'> & {
  plan: Plan;
  /** The noun of merge requests: an argument, because its own quick actions publish reviews. */
  noun: NounWith<'hook' | 'diff' | 'quickActions' | 'threads'>;
};

/** Quick actions in a published draft cannot publish the others. */
const withoutPublishing = ({ noun, ...publishing }: Publishing): Publishing => {
  const { quickActions } = noun;
  return {
    ...publishing,
    noun: {
      ...noun,
      quickActions: {
        ...quickActions,
        commands: quickActions.commands.filter(({ names: [name] }) => name !== 'submit_review'),
      },
    },
  };
};

/** Converts a draft to a note with all its effects. It resolves its thread as requested, unless the caller may no longer do so. */
async function publish(tx: Database, publishing: Publishing, granted: OnIssuable, id: number): Promise<void> {
  const { noun } = publishing;
  const draft = await tx
    .deleteFrom('merge_request_draft_notes')
    .where('id', '=', id)
    .returning(draftColumns)
    .$castTo<DraftNoteRow>()
    .executeTakeFirstOrThrow();
  const { note: body, discussion_id, position, commit_id, resolve_discussion } = draft;
  const thread = discussion_id !== null ? { discussion_id } : position ? {} : undefined;
  const place = position ? { position, diff_commit_id: commit_id ?? undefined } : {};
  const comment = await checkedComment(noun, granted, { body, thread, ...place });
  await addComment(tx, publishing, granted, comment);
  if (discussion_id === null || !resolve_discussion || !(await noun.threads.mayResolve(tx, granted))) return;
  await markResolved(
    tx,
    noun.threads,
    theMergeRequest(granted.on.id),
    granted.caller.id,
    { discussion_ids: [discussion_id] },
    true,
  );
}

export type ReviewerState = 'reviewed' | 'requested_changes';

const wordsFor = {
  reviewed: 'left review comments',
  requested_changes: 'requested changes',
} satisfies Record<ReviewerState, string>;

interface Reviewing {
  caller: Caller;
  on: PlacedIssuable;
}

const reviewerRow = (tx: Database, { caller, on }: Reviewing) =>
  tx.updateTable('merge_request_reviewers').where('merge_request_id', '=', on.id).where('user_id', '=', caller.id);

/**
 * Records the caller's verdict as a reviewer, with all effects, even if it is repeated: each review counts by itself. An approval outranks a mere review, and stays unless they
 * request changes.
 * @param tx the transaction of the review, which locks the merge request
 * @returns whether they are a reviewer and may give this verdict
 */
export async function stateReview(
  tx: Database,
  { storages }: Pick<Services, 'storages'>,
  reviewing: Reviewing,
  state: ReviewerState,
): Promise<boolean> {
  const { caller, on } = reviewing;
  const project = projectOf(on.in);
  await tx.selectFrom('merge_requests').select('id').where('id', '=', on.id).forNoKeyUpdate().executeTakeFirst();
  const reviewers = tx.selectFrom('merge_request_reviewers').select('state').where('merge_request_id', '=', on.id);
  const before = await reviewers.where('user_id', '=', caller.id).executeTakeFirst();
  if (!before || (before.state === 'approved' && state === 'reviewed')) return false;
  if (state === 'requested_changes') await withdrawApproval(tx, { project, caller, merge_request_id: on.id, storages });
  await reviewerRow(tx, reviewing).set({ state }).execute();
  await tx.updateTable('merge_requests').set(stamped({}, true)).where('id', '=', on.id).execute();
  await addSystemNote(tx, theMergeRequest(on.id), caller.id, wordsFor[state]);
  await tellOfMergeRequest(tx, { id: on.id, project_id: project.id, actor_id: caller.id, action: 'update' });
  await doneTodos(tx, on, caller.id);
  // An auto-merge may have waited for changes that they no longer request.
  if (state === 'reviewed') await retryWaiting(tx, { project_id: project.id, merge_request_id: on.id });
  return true;
}

/** The parts of a review published together with all drafts. */
export interface Review {
  /** A comment outside threads, published after the drafts. */
  note?: string | undefined;
  /** Whether the comment is visible only to Planners and above. */
  internal?: boolean | undefined;
  /** The caller's verdict as a reviewer; ignored for other callers. */
  reviewer_state?: ReviewerState | undefined;
}

async function summarize(
  tx: Database,
  publishing: Publishing,
  granted: OnIssuable,
  { note, internal }: Review,
): Promise<void> {
  if (note === undefined) return;
  const comment = await checkedComment(publishing.noun, granted, { body: note, internal });
  await addComment(tx, publishing, granted, comment);
}

/** Locks the threads before the merge request, as a reply does, to prevent deadlocks. */
async function lockThreads(tx: Database, drafts: readonly { discussion_id: string | null }[]): Promise<void> {
  const ids = drafts.map(({ discussion_id }) => discussion_id).filter((id) => id !== null);
  if (ids.length > 0)
    await sql`select from notes where discussion_id = any(${ids}) and starts_discussion order by id for update`.execute(
      tx,
    );
}

/**
 * Publishes drafts of the caller, oldest first. Their texts are read one by one, because together they may be large.
 * @param tx a transaction that is rolled back if this throws
 * @param what the id of the only draft to publish; otherwise all are published, with the other parts of the review
 * @returns whether there was anything to publish or record
 * @throws ApiError 400, 403 and 404 as for comments; 404 if the draft does not exist
 */
export async function publishReview(
  tx: Database,
  { noun, ...services }: Publishing,
  granted: OnIssuable,
  what: { id: number } | Review,
): Promise<boolean> {
  const publishing = withoutPublishing({ noun, ...services });
  const [id, review] = 'id' in what ? [what.id, {}] : [undefined, what];
  const wanted = tx
    .selectFrom('merge_request_draft_notes')
    .select(['id', 'discussion_id'])
    .where('merge_request_id', '=', granted.on.id)
    .where('author_id', '=', granted.caller.id)
    .orderBy('id')
    .limit(maximumDrafts)
    .forUpdate();
  const drafts = await (id === undefined ? wanted : wanted.where('id', '=', id)).execute();
  if (id !== undefined) found(undefined, drafts[0]);
  await lockThreads(tx, drafts);
  for (const draft of drafts) await publish(tx, publishing, granted, draft.id);
  await summarize(tx, publishing, granted, review);
  const isSaid =
    review.reviewer_state !== undefined && (await stateReview(tx, services, granted, review.reviewer_state));
  const isPublished = drafts.length > 0 || review.note !== undefined;
  // Publishing alone is no verdict, and has no system note of its own.
  if (isPublished)
    await reviewerRow(tx, granted).set({ state: 'reviewed' }).where('state', '=', 'unreviewed').execute();
  return isPublished || isSaid;
}

/**
 * Publishes drafts of the caller in its own transaction: all or none.
 * @throws ApiError as `publishReview`
 */
export async function publishDrafts(
  { db, ...publishing }: Publishing & Pick<Services, 'db'>,
  granted: OnIssuable,
  what: { id: number } | Review,
): Promise<void> {
  await repeated(db, (tx) => publishReview(tx, publishing, granted, what));
}
