/** Notes: the comments outside threads, and system notes (docs/reference/notes.md). */
import { Type } from 'typebox';
import {
  type AnyEndpoint,
  del,
  deprecated,
  get,
  Id,
  longText,
  NotBlank,
  nothing,
  one,
  optional,
  pageOf,
  post,
  put,
  withArticle,
} from '../../../http/index.ts';
import { mapPage, paging } from '../../../lists/index.ts';
import { removeComment, rewriteComment, writeComment } from './comment_actions.ts';
import type { Discussable } from './definition.ts';
import { Note, orCommands, outcomeOf, presentNote } from './present.ts';
import { noteOf, singleNotesOf } from './queries.ts';
import { describedText, writingTexts } from './rules.ts';

/** The rate limit for comments of a user. */
export const commentRate = {
  setting: 'notes_create_limit',
  spared: 'notes_create_limit_allowlist',
  window_s: 60,
} as const;

export const CommentTime = () =>
  optional(
    Type.String({ format: 'date-time', description: 'Only for administrators and owners of the project or group' }),
  );

const filters = {
  activity_filter: Type.Enum(['all_notes', 'only_comments', 'only_activity'], { default: 'all_notes' }),
  order_by: Type.Enum(['created_at', 'updated_at'], { default: 'created_at' }),
  sort: Type.Enum(['asc', 'desc'], { default: 'desc' }),
};

const comment = {
  body: longText(Type.String()),
  internal: optional(Type.Boolean({ description: 'Whether only members with at least the Planner role can read it' })),
  confidential: optional(deprecated('use `internal`', Type.Boolean())),
  created_at: CommentTime(),
};

/** The endpoints for notes on items of one kind. */
export function noteRoutes(noun: Discussable): AnyEndpoint[] {
  const { name, type, discussed_at, endpoints } = noun.kind;
  const base = `${discussed_at.path}/notes`;
  const reader = discussed_at.reader(type);
  const note = { note_id: Id };
  return endpoints([
    get(base, {
      operation: `list${type}Notes`,
      summary: `List the notes of ${withArticle(name)}, without replies in threads`,
      access: reader,
      input: { ...paging, ...filters },
      returns: pageOf(Note),
      handle: async ({ db, url, input, ...granted }) => {
        const page = await singleNotesOf(db, granted, input);
        return mapPage(page, (row) => presentNote(url, row));
      },
    }),
    get(`${base}/:note_id`, {
      operation: `get${type}Note`,
      summary: 'Get a note',
      access: reader,
      input: note,
      returns: one(Note),
      handle: async ({ db, url, input, ...granted }) =>
        presentNote(url, await noteOf(db, granted, input.note_id, true)),
    }),
    post(base, {
      operation: `create${type}Note`,
      summary: `Create a note on ${withArticle(name)}`,
      description: describedText(noun),
      access: reader,
      input: comment,
      rate: commentRate,
      returns: orCommands(noun, Note),
      refusals: { 400: writingTexts(noun) },
      handle: async ({ db, storages, url, plan, caller, on, input: { internal, confidential, ...given } }) => {
        const text = { ...given, internal: internal ?? confidential };
        const written = await writeComment({ db, storages, url, plan, noun }, { caller, on }, text);
        return outcomeOf(written, (row, changes) => presentNote(url, row, changes));
      },
    }),
    put(`${base}/:note_id`, {
      operation: `update${type}Note`,
      summary: 'Update a note',
      access: reader,
      input: { ...note, body: longText(NotBlank()) },
      returns: orCommands(noun, Note),
      refusals: { 400: writingTexts(noun) },
      handle: async ({ db, storages, url, plan, caller, on, input }) => {
        const granted = { caller, on };
        const row = await noteOf(db, granted, input.note_id, true);
        const written = await rewriteComment({ db, storages, url, plan, noun }, granted, row, input.body);
        return outcomeOf(written, (changed, changes) => presentNote(url, changed, changes));
      },
    }),
    del(`${base}/:note_id`, {
      operation: `delete${type}Note`,
      summary: 'Delete a note',
      access: reader,
      input: note,
      conditional: true,
      returns: nothing,
      handle: async ({ db, caller, on, input, unmodified_since }) => {
        const granted = { caller, on };
        await removeComment(db, noun, granted, await noteOf(db, granted, input.note_id, true), unmodified_since);
      },
    }),
  ]);
}
