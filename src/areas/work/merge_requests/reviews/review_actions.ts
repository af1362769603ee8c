/** Reviews: publishing draft notes, and what a reviewer says with them (docs/reference/draft_notes.md#publishing). */
import { sql } from 'kysely';
import { type OnIssuable, type PlacedIssuable, projectOf, theMergeRequest } from '../../../../access/index.ts';
import { type Database, repeated, stamped } from '../../../../db/index.ts';
import { type Caller, found, type Plan, type Services } from '../../../../http/index.ts';
import { doneTodos } from '../../../activity/todos/index.ts';
import { retryWaiting } from '../../../code/commit_statuses/index.ts';
import { addComment, addSystemNote, checkedComment, markResolved } from '../../../conversation/notes/index.ts';
import { type NounWith, tellOfMergeRequest } from '../../issuables/index.ts';
import { withdrawApproval } from '../approvals/actions.ts';
import { type DraftNoteRow, draftColumns, maximumDrafts } from './draft_note_queries.ts';

/** What publishing needs besides the drafts. */
export type Publishing = Pick<Services, 'storages' | 'url'> & {
  plan: Plan;
  /** The noun of merge requests: an argument, because its own quick actions publish reviews. */
  noun: NounWith<'hook' | 'diff' | 'quickActions' | 'threads'>;
};

/** What is published does not publish the rest. */
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

/** Makes a draft a note with all its effects. It resolves its thread as asked, unless the caller may no longer do so. */
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
 * Records what the caller says as a reviewer, with everything that follows, also if they say it again: each review is one of its own. An approval says more than that they
 * have reviewed, and stays, unless they request changes.
 * @param tx the transaction of the review, which locks the merge request
 * @returns whether they are a reviewer who may say so
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
  // An automatic merge may have waited for changes that they request no longer.
  if (state === 'reviewed') await retryWaiting(tx, { project_id: project.id, merge_request_id: on.id });
  return true;
}

/** What goes with the publication of all drafts. */
export interface Review {
  /** A comment outside threads, after the drafts. */
  note?: string | undefined;
  /** Whether the comment can be read only by Planners and above. */
  internal?: boolean | undefined;
  /** What the caller says as a reviewer; others cannot say it, and it is ignored. */
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

/** Locks the threads before the merge request, as a reply does, so that neither waits for the other. */
async function lockThreads(tx: Database, drafts: readonly { discussion_id: string | null }[]): Promise<void> {
  const ids = drafts.map(({ discussion_id }) => discussion_id).filter((id) => id !== null);
  if (ids.length > 0)
    await sql`select from notes where discussion_id = any(${ids}) and starts_discussion order by id for update`.execute(
      tx,
    );
}

/**
 * Publishes drafts of the caller, oldest first. Their texts are read one by one, because together they may be large.
 * @param tx a transaction that ends without effects if this throws
 * @param what the id of the only one to publish; otherwise all are, with what goes with them
 * @returns whether there was anything to publish or to say
 * @throws ApiError 400, 403 and 404 as for comments; 404 when there is none with the id
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
  // Only publishing is not a statement, and has no system note of its own.
  if (isPublished)
    await reviewerRow(tx, granted).set({ state: 'reviewed' }).where('state', '=', 'unreviewed').execute();
  return isPublished || isSaid;
}

/**
 * Publishes drafts of the caller in a transaction of its own: all or none.
 * @throws ApiError as `publishReview`
 */
export async function publishDrafts(
  { db, ...publishing }: Publishing & Pick<Services, 'db'>,
  granted: OnIssuable,
  what: { id: number } | Review,
): Promise<void> {
  await repeated(db, (tx) => publishReview(tx, publishing, granted, what));
}
