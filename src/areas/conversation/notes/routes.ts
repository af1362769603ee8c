/**
 * Notes: the comments on issues and epics outside threads, and what the product noted (labels-milestones-iterations-epics.md section 11). They stand here because
 * quick actions in comments need the area of issues, which needs that of notes.
 */
import { Type } from 'typebox';
import {
  type AnyEndpoint,
  del,
  get,
  Id,
  NotBlank,
  nothing,
  one,
  optional,
  pageOf,
  paging,
  post,
  put,
} from '../../../http/index.ts';
import { type Kind, readerOf, visibleOf } from '../discussions/parent.ts';
import { noteOrCommands, outcomeOf } from '../discussions/present.ts';
import { noteOf, singleNotesOf } from '../discussions/queries.ts';
import { CommentTime, commentRate, ofEpics } from '../discussions/routes.ts';
import { removeComment, rewriteComment, writeComment } from './comment_actions.ts';
import { Note, presentNote } from './index.ts';

const filters = {
  activity_filter: Type.Enum(['all_notes', 'only_comments', 'only_activity'], { default: 'all_notes' }),
  order_by: Type.Enum(['created_at', 'updated_at'], { default: 'created_at' }),
  sort: Type.Enum(['asc', 'desc'], { default: 'desc' }),
};

const comment = {
  body: Type.String(),
  internal: optional(Type.Boolean({ description: 'Whether only members from Planner on read it' })),
  confidential: optional(Type.Boolean({ description: 'Deprecated: `internal`' })),
  created_at: CommentTime(),
};

function routesOf(kind: Kind, base: string) {
  const visible = visibleOf(kind);
  const reader = readerOf(kind);
  const note = { note_id: Id };
  return [
    get(base, {
      summary: `List the notes on an ${kind} outside threads`,
      access: visible,
      input: { ...paging, ...filters },
      returns: pageOf(Note),
      handle: async ({ db, url, input, ...granted }) => {
        const page = await singleNotesOf(db, granted, input);
        return { ...page, items: page.items.map((row) => presentNote(url, row)) };
      },
    }),
    get(`${base}/:note_id`, {
      summary: 'Show a note',
      access: visible,
      input: note,
      returns: one(Note),
      handle: async ({ db, url, input, ...granted }) => presentNote(url, await noteOf(db, granted, input.note_id, true)),
    }),
    post(base, {
      summary: `Comment on an ${kind}`,
      access: reader,
      input: comment,
      rate: commentRate,
      returns: noteOrCommands,
      handle: async ({ db, url, plan, caller, parent, input: { internal, confidential, ...given } }) => {
        const text = { ...given, internal: internal ?? confidential };
        const written = await writeComment({ db, url, plan }, { caller, parent }, text);
        return outcomeOf(written, (row, changes) => presentNote(url, row, changes));
      },
    }),
    put(`${base}/:note_id`, {
      summary: 'Change a comment',
      access: reader,
      input: { ...note, body: NotBlank() },
      returns: noteOrCommands,
      handle: async ({ db, url, plan, caller, parent, input }) => {
        const granted = { caller, parent };
        const row = await noteOf(db, granted, input.note_id, true);
        const written = await rewriteComment({ db, url, plan }, granted, row, input.body);
        return outcomeOf(written, (changed, changes) => presentNote(url, changed, changes));
      },
    }),
    del(`${base}/:note_id`, {
      summary: 'Remove a comment',
      access: reader,
      input: note,
      returns: nothing,
      handle: async ({ db, caller, parent, input, unmodified_since }) => {
        const granted = { caller, parent };
        await removeComment(db, granted, await noteOf(db, granted, input.note_id, true), unmodified_since);
      },
    }),
  ];
}

export const noteRoutes: AnyEndpoint[] = [
  ...routesOf('issue', '/projects/:id/issues/:issue_iid/notes'),
  ...ofEpics(routesOf('epic', '/groups/:id/epics/:epic_id/notes')),
];
