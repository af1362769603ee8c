/** Creating and changing draft notes (docs/reference/draft_notes.md). */
import type { OnIssuable } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { badRequest, forbidden, found, invalid, type Services } from '../../../../http/index.ts';
import {
  checkBody,
  type GivenPosition,
  lineCode,
  mayComment,
  notInDiff,
  type Position,
  threadToJoin,
} from '../../../conversation/notes/index.ts';
import { mergeRequestNoun } from '../noteable.ts';
import { positionOn } from '../versions/position_git.ts';
import { type DraftNoteRow, draftColumns, draftsOf, maximumDrafts } from './draft_note_queries.ts';

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

/** The line code of a position (docs/reference/discussions.md#positions); null for positions that are not lines. */
const codeOf = ({ position_type, new_path, old_line, new_line }: Position): string | null =>
  position_type === 'text' ? lineCode(new_path!, [old_line ?? 0, new_line ?? 0]) : null;

/**
 * The columns of a position in the diff.
 * @param commit_id the commit whose own diff contains it
 * @throws ApiError 400 for a position outside the diff
 */
async function placeOf(services: Places, { on }: OnIssuable, given: GivenPosition, commit_id: string | undefined) {
  const position = await positionOn(services, on, given, commit_id);
  const place = { position: JSON.stringify(position), line_code: codeOf(position) };
  return { ...place, commit_id: commit_id === undefined ? null : position.head_sha };
}

/** @throws ApiError 400 for a thread that accepts no replies, 403 if the caller may not resolve it as requested, 404 for an unknown one */
async function checkThread(tx: Database, granted: OnIssuable, draft: NewDraft): Promise<void> {
  const { in_reply_to_discussion_id, resolve_discussion } = draft;
  if (in_reply_to_discussion_id === undefined) return;
  await threadToJoin(tx, granted, in_reply_to_discussion_id);
  if (resolve_discussion && !(await mergeRequestNoun.threads.mayResolve(tx, granted))) throw forbidden();
}

/**
 * Adds a draft, up to the limit of the caller.
 * @throws ApiError 400 for an invalid draft or too many, 403 for callers who may not comment or resolve, 404 for an unknown thread
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
    // Locked, so that two concurrent requests cannot exceed the limit together.
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
 * Changes the text or the position of a draft.
 * @throws ApiError 400 for an invalid text or position, 403 for callers who may not comment, 404
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
