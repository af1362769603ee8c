/** Draft notes: comments on a merge request that are visible only to their author until they are published (docs/reference/draft_notes.md). */
import { Type } from 'typebox';
import { mergeRequestKind } from '../../../../access/index.ts';
import {
  del,
  deleteFound,
  found,
  get,
  Id,
  IdOf,
  longText,
  mutuallyExclusive,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  resource,
} from '../../../../http/index.ts';
import { paginate, paging } from '../../../../lists/index.ts';
import {
  commentRate,
  GivenPosition,
  noReplyText,
  Position,
  positionTexts,
  writingTexts,
} from '../../../conversation/notes/index.ts';
import { mergeRequestNoun } from '../noteable.ts';
import { addDraft, changeDraft, noPlaceText, noThreadText, tooManyText } from './draft_note_actions.ts';
import { draftsOf, maximumDrafts } from './draft_note_queries.ts';
import { publishDrafts } from './review_actions.ts';

export const DraftNote = resource('DraftNote', {
  id: Id,
  author_id: Id,
  merge_request_id: IdOf({ description: 'The ID, not the IID' }),
  resolve_discussion: Type.Boolean({ description: 'Whether publishing resolves the discussion' }),
  discussion_id: nullable(Type.String({ description: 'The discussion that it replies to' })),
  note: Type.String(),
  commit_id: nullable(Type.String({ description: 'The commit whose own diff the position is in' })),
  line_code: nullable(Type.String({ description: 'Of the line of the position' })),
  position: nullable(Position),
});

const access = mergeRequestKind.at.reader();
const path = `${mergeRequestKind.at.path}/draft_notes`;
const one_of_them = { draft_note_id: Id };
const Note = () => longText(Type.String({ description: 'At most 1,000,000 characters' }));
const noteText = '400 Bad request - Note {:note=>[<reason>]}';
const publishingTexts = {
  400: [...writingTexts(mergeRequestNoun), noReplyText],
  403: '403 Forbidden',
  404: '404 Discussion Not Found',
};

export const draftNoteRoutes = [
  get(path, {
    operation: 'listDraftNotes',
    summary: "List the caller's draft notes on a merge request, oldest first",
    access,
    input: paging,
    returns: pageOf(DraftNote),
    handle: ({ db, caller, on, input }) => paginate(db, draftsOf(db, { caller, on }).orderBy('id'), input),
  }),
  get(`${path}/:draft_note_id`, {
    operation: 'getDraftNote',
    summary: "Get one of the caller's draft notes",
    access,
    input: one_of_them,
    returns: one(DraftNote),
    handle: async ({ db, caller, on, input }) =>
      found(undefined, await draftsOf(db, { caller, on }).where('id', '=', input.draft_note_id).executeTakeFirst()),
  }),
  post(path, {
    operation: 'createDraftNote',
    summary: 'Create a draft note',
    description: `A user has at most ${maximumDrafts} draft notes on a merge request.`,
    access,
    input: {
      note: Note(),
      commit_id: optional(
        Type.String({ description: 'The full ID of a commit of the merge request, in whose diff the position is' }),
      ),
      in_reply_to_discussion_id: optional(Type.String({ description: 'The discussion to reply to' })),
      position: optional(GivenPosition),
      line_code: optional(Type.String({ description: 'Must be that of the line of the position' })),
      resolve_discussion: optional(Type.Boolean({ description: 'Whether publishing resolves the discussion' })),
    },
    rules: [mutuallyExclusive('in_reply_to_discussion_id', 'position')],
    rate: commentRate,
    returns: one(DraftNote),
    refusals: {
      400: [noteText, ...positionTexts, noReplyText, noThreadText, `base: ${tooManyText}`],
      403: '403 Forbidden',
      404: '404 Discussion Not Found',
    },
    handle: ({ db, storages, caller, on, input }) => addDraft({ db, storages }, { caller, on }, input),
  }),
  put(`${path}/:draft_note_id`, {
    operation: 'updateDraftNote',
    summary: 'Update a draft note',
    access,
    input: { ...one_of_them, note: optional(Note()), position: optional(GivenPosition) },
    returns: one(DraftNote),
    refusals: { 400: [noteText, ...positionTexts, noPlaceText], 403: '403 Forbidden' },
    handle: ({ db, storages, caller, on, input: { draft_note_id, ...changes } }) =>
      changeDraft({ db, storages }, { caller, on }, draft_note_id, changes),
  }),
  del(`${path}/:draft_note_id`, {
    operation: 'deleteDraftNote',
    summary: 'Delete a draft note',
    access,
    input: one_of_them,
    returns: nothing,
    handle: async ({ db, caller, on, input }) => {
      const draft = draftsOf(db, { caller, on }).where('id', '=', input.draft_note_id);
      const { id } = found(undefined, await draft.executeTakeFirst());
      await deleteFound(db, 'merge_request_draft_notes', id);
    },
  }),
  put(`${path}/:draft_note_id/publish`, {
    operation: 'publishDraftNote',
    summary: 'Publish a draft note',
    access,
    input: one_of_them,
    returns: nothing,
    refusals: publishingTexts,
    handle: ({ db, storages, url, plan, caller, on, input }) =>
      publishDrafts({ db, storages, url, plan, noun: mergeRequestNoun }, { caller, on }, { id: input.draft_note_id }),
  }),
  post(`${path}/bulk_publish`, {
    operation: 'publishAllDraftNotes',
    summary: "Publish all of the caller's draft notes on a merge request, or none if one is refused",
    access,
    input: {
      note: optional(
        longText(Type.String({ description: 'A comment to add after them, at most 1,000,000 characters' })),
      ),
      internal: optional(
        Type.Boolean({ description: 'Whether only members with at least the Planner role can read the comment' }),
      ),
      reviewer_state: optional(
        Type.Enum(['reviewed', 'requested_changes'], {
          description: 'The state of the review, if the caller is a reviewer; to approve, use `approve`',
        }),
      ),
    },
    rate: commentRate,
    returns: nothing,
    refusals: { ...publishingTexts, 400: [...publishingTexts[400], noteText] },
    handle: ({ db, storages, url, plan, caller, on, input }) =>
      publishDrafts({ db, storages, url, plan, noun: mergeRequestNoun }, { caller, on }, input),
  }),
];
