/** Creating, changing and publishing draft notes (docs/reference/draft_notes.md). */
import { sql } from 'kysely';
import { type OnIssuable, theMergeRequest } from '../../../access/index.ts';
import { type Database, repeated } from '../../../db/index.ts';
import { badRequest, forbidden, found, invalid, type Plan, type Services } from '../../../http/index.ts';
import { retryWaiting } from '../../code/commit_statuses/index.ts';
import {
  addComment,
  checkBody,
  checkedComment,
  type GivenPosition,
  lineCode,
  markResolved,
  mayComment,
  notInDiff,
  type Position,
  threadToJoin,
} from '../../conversation/notes/index.ts';
import { withdrawApproval } from './approval_actions.ts';
import { type DraftNoteRow, draftColumns, draftsOf } from './draft_note_queries.ts';
import { mergeRequestNoun } from './noteable.ts';
import { positionOn } from './position_queries.ts';

/** The most drafts of a user on a merge request. */
export const maximumDrafts = 500;
export const tooManyText = `Maximum number of draft notes (${maximumDrafts}) exceeded`;
export const noThreadText = '400 Bad request - resolve_discussion needs in_reply_to_discussion_id';
export const noPlaceText = '400 Bad request - A reply has the position of its discussion';

type Places = Pick<Services, 'db' | 'storages'>;

export interface NewDraft {
  note: string;
  commit_id?: string;
  in_reply_to_discussion_id?: string;
  position?: GivenPosition;
  line_code?: string;
  resolve_discussion?: boolean;
}

/** The code of the line of a position (docs/reference/discussions.md#positions); null for places that are no lines. */
const codeOf = ({ position_type, new_path, old_line, new_line }: Position): string | null =>
  position_type === 'text' ? lineCode(new_path!, [old_line ?? 0, new_line ?? 0]) : null;

/**
 * The columns of a place in the diff.
 * @param commit_id the commit in whose own diff it is
 * @throws ApiError 400 for a place that the diff does not show
 */
async function placeOf(services: Places, { on }: OnIssuable, given: GivenPosition, commit_id: string | undefined) {
  const position = await positionOn(services, on, given, commit_id);
  const place = { position: JSON.stringify(position), line_code: codeOf(position) };
  return { ...place, commit_id: commit_id === undefined ? null : position.head_sha };
}

/** @throws ApiError 400 for a thread that cannot be replied to, 403 when the caller may not resolve it as they ask, 404 for an unknown one */
async function checkThread(tx: Database, granted: OnIssuable, draft: NewDraft): Promise<void> {
  const { in_reply_to_discussion_id, resolve_discussion } = draft;
  if (in_reply_to_discussion_id === undefined) return;
  await threadToJoin(tx, granted, in_reply_to_discussion_id);
  if (resolve_discussion && !(await mergeRequestNoun.mayResolve(tx, granted))) throw forbidden();
}

/**
 * Adds a draft, unless the caller has as many as they can have.
 * @throws ApiError 400 for an invalid draft or one too many, 403 for callers who may not comment or resolve, 404 for an unknown thread
 */
export async function addDraft(services: Places, granted: OnIssuable, draft: NewDraft): Promise<DraftNoteRow> {
  const { caller, on } = granted;
  const { note, commit_id, in_reply_to_discussion_id, position, line_code, resolve_discussion = false } = draft;
  if (!mayComment(on)) throw forbidden();
  checkBody(note);
  if (resolve_discussion && in_reply_to_discussion_id === undefined) throw badRequest(noThreadText);
  const place = position && (await placeOf(services, granted, position, commit_id));
  if (line_code !== undefined && line_code !== (place?.line_code ?? undefined)) throw notInDiff();
  return services.db.transaction().execute(async (tx) => {
    await checkThread(tx, granted, draft);
    // Locked, so that two calls at once do not exceed the limit together.
    await tx.selectFrom('merge_requests').select('id').where('id', '=', on.id).forNoKeyUpdate().executeTakeFirst();
    const { count } = await tx
      .selectFrom('merge_request_draft_notes')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('merge_request_id', '=', on.id)
      .where('author_id', '=', caller.id)
      .executeTakeFirstOrThrow();
    if (count >= maximumDrafts) throw invalid({ base: [tooManyText] });
    const values = { merge_request_id: on.id, author_id: caller.id, note, resolve_discussion, ...place };
    return tx
      .insertInto('merge_request_draft_notes')
      .values({ ...values, discussion_id: in_reply_to_discussion_id ?? null })
      .returning(draftColumns)
      .$castTo<DraftNoteRow>()
      .executeTakeFirstOrThrow();
  });
}

/**
 * Changes the text or the place of a draft.
 * @throws ApiError 400 for an invalid text or place, 403 for callers who may not comment, 404
 */
export async function changeDraft(
  services: Places,
  granted: OnIssuable,
  id: number,
  { note, position }: { note?: string; position?: GivenPosition },
): Promise<DraftNoteRow> {
  const { db } = services;
  const draft = found(undefined, await draftsOf(db, granted).where('id', '=', id).executeTakeFirst());
  if (!mayComment(granted.on)) throw forbidden();
  if (note !== undefined) checkBody(note);
  if (position && draft.discussion_id !== null) throw badRequest(noPlaceText);
  const place = position && (await placeOf(services, granted, position, draft.commit_id ?? undefined));
  if (note === undefined && !place) return draft;
  const changed = db
    .updateTable('merge_request_draft_notes')
    .set({ ...(note === undefined ? {} : { note }), ...place })
    .where('id', '=', id)
    .returning(draftColumns)
    .$castTo<DraftNoteRow>();
  return found(undefined, await changed.executeTakeFirst());
}

/** What publishing needs besides the drafts. */
type Publishing = Pick<Services, 'db' | 'storages' | 'url'> & { plan: Plan };

/** Makes a draft a note with all its effects. It resolves its thread as asked, unless the caller may no longer do so. */
async function publish(tx: Database, publishing: Publishing, granted: OnIssuable, id: number): Promise<void> {
  const draft = await tx
    .deleteFrom('merge_request_draft_notes')
    .where('id', '=', id)
    .returning(draftColumns)
    .$castTo<DraftNoteRow>()
    .executeTakeFirstOrThrow();
  const { note: body, discussion_id, position, commit_id, resolve_discussion } = draft;
  const thread = discussion_id !== null ? { discussion_id } : position ? {} : undefined;
  const place = position ? { position, diff_commit_id: commit_id ?? undefined } : {};
  const comment = await checkedComment(mergeRequestNoun, granted, { body, thread, ...place });
  await addComment(tx, { ...publishing, noun: mergeRequestNoun }, granted, comment);
  if (discussion_id === null || !resolve_discussion || !(await mergeRequestNoun.mayResolve(tx, granted))) return;
  await markResolved(
    tx,
    mergeRequestNoun,
    theMergeRequest(granted.on.id),
    granted.caller.id,
    { discussion_ids: [discussion_id] },
    true,
  );
}

export type ReviewerState = 'reviewed' | 'requested_changes';

/** A reviewer who publishes has reviewed. An approval says more, and stays, unless they request changes. */
async function markReviewed(
  tx: Database,
  { storages }: Pick<Publishing, 'storages'>,
  { caller, on }: OnIssuable,
  state: ReviewerState | undefined,
): Promise<void> {
  const reviewer = tx
    .updateTable('merge_request_reviewers')
    .set({ state: state ?? 'reviewed' })
    .where('merge_request_id', '=', on.id)
    .where('user_id', '=', caller.id);
  if (state === undefined) return void (await reviewer.where('state', '=', 'unreviewed').execute());
  if (state === 'requested_changes' && 'project' in on.in)
    await withdrawApproval(tx, { project: on.in.project, caller, merge_request_id: on.id, storages });
  await (state === 'reviewed' ? reviewer.where('state', '<>', 'approved') : reviewer).execute();
  // An automatic merge may have waited for changes that they request no longer.
  if (state === 'reviewed' && 'project' in on.in)
    await retryWaiting(tx, { project_id: on.in.project.id, merge_request_id: on.id });
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

async function summarize(tx: Database, publishing: Publishing, granted: OnIssuable, { note, internal }: Review): Promise<void> {
  if (note === undefined) return;
  const comment = await checkedComment(mergeRequestNoun, granted, { body: note, internal });
  await addComment(tx, { ...publishing, noun: mergeRequestNoun }, granted, comment);
}

/**
 * Publishes drafts of the caller, oldest first, all or none. Their texts are read one by one, because together they may be large.
 * @param what the id of the only one to publish; otherwise all are, with what goes with them
 * @throws ApiError 400, 403 and 404 as for comments; 404 when there is none with the id
 */
export async function publishDrafts(publishing: Publishing, granted: OnIssuable, what: { id: number } | Review): Promise<void> {
  const [id, review] = 'id' in what ? [what.id, {}] : [undefined, what];
  await repeated(publishing.db, async (tx) => {
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
    if (drafts.length > 0 || review.note !== undefined || review.reviewer_state)
      await markReviewed(tx, publishing, granted, review.reviewer_state);
  });
}

/** Locks the threads before the merge request, as a reply does, so that neither waits for the other. */
async function lockThreads(tx: Database, drafts: readonly { discussion_id: string | null }[]): Promise<void> {
  const ids = drafts.map(({ discussion_id }) => discussion_id).filter((id) => id !== null);
  if (ids.length > 0)
    await sql`select from notes where discussion_id = any(${ids}) and starts_discussion order by id for update`.execute(tx);
}
