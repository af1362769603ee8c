/** Queries for draft notes, which only their author can see. */
import type { OnIssuable } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import type { Position } from '../../../conversation/notes/index.ts';

/** The most drafts of a user on a merge request. */
export const maximumDrafts = 500;

export interface DraftNoteRow {
  id: number;
  author_id: number;
  merge_request_id: number;
  resolve_discussion: boolean;
  discussion_id: string | null;
  note: string;
  commit_id: string | null;
  line_code: string | null;
  position: Position | null;
}

export const draftColumns = [
  ...(['id', 'author_id', 'merge_request_id', 'resolve_discussion', 'discussion_id'] as const),
  ...(['note', 'commit_id', 'line_code', 'position'] as const),
] as const;

/** The caller's own drafts on a merge request; drafts of others are never visible. */
export const draftsOf = (db: Database, { caller, on }: OnIssuable) =>
  db
    .selectFrom('merge_request_draft_notes')
    .select(draftColumns)
    .where('merge_request_id', '=', on.id)
    .where('author_id', '=', caller.id)
    .$castTo<DraftNoteRow>();
