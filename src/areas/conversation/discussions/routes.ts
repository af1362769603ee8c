/** Discussions: comments as threads (docs/reference/discussions.md). */
import { type TProperties, Type } from 'typebox';
import type { MaybeCaller, NoteableKind, OnNoteable } from '../../../access/index.ts';
import {
  type Access,
  type AnyEndpoint,
  del,
  exactlyOneOf,
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
import { mapPage, numberedPaging, pageOfArray, paging } from '../../../lists/index.ts';
import { removeComment, rewriteComment, writeComment } from '../notes/comment_actions.ts';
import type { Discussable, Threads } from '../notes/definition.ts';
import { GivenPosition, positionTexts } from '../notes/position_rules.ts';
import { Note, orCommands, outcomeOf, presentNote } from '../notes/present.ts';
import { noteOf } from '../notes/queries.ts';
import { resolveNote, resolveThread } from '../notes/resolution_actions.ts';
import { CommentTime, commentRate } from '../notes/routes.ts';
import { describedText, noReplyText, notResolvable, notResolvableText, writingTexts } from '../notes/rules.ts';
import { Discussion, presentDiscussion } from './present.ts';
import { notesOfThread, threadsOf } from './queries.ts';

/** The position in the diff of a noun at which a thread starts. */
const placed: TProperties = { position: optional(GivenPosition) };
/** A single commit, whose diff the position refers to instead. */
const inCommit: TProperties = {
  commit_id: optional(
    Type.String({ description: 'The full ID of a commit of the merge request, in whose diff the position is' }),
  ),
};
interface Placed {
  position?: GivenPosition;
  commit_id?: string;
}

/**
 * Whether a change of a note accepts `resolved` as well as `body`, one of which must be given. Commits always refuse
 * `resolved`.
 */
const takesResolution = (noun: Discussable): boolean => noun.diff !== undefined || noun.threads !== undefined;

/** The parameters of such a change, one of which must be given. */
const textOrResolution: TProperties = {
  body: optional(longText(NotBlank())),
  resolved: optional(Type.Boolean({ description: 'Refused for notes that cannot be resolved' })),
};
interface Change {
  body?: string;
  resolved?: boolean;
}

const listing = (
  { kind: { name, discussed_at } }: Discussable,
  operation: string,
  access: Access<OnNoteable<MaybeCaller>>,
): AnyEndpoint =>
  get(`${discussed_at.path}/discussions`, {
    operation,
    summary: `List the discussions of ${withArticle(name)}, oldest first`,
    access,
    input: paging,
    returns: pageOf(Discussion),
    handle: async ({ db, url, input, ...granted }) => {
      const page = await threadsOf(db, granted, input);
      return mapPage(page, ({ notes }) => presentDiscussion(url, notes));
    },
  });

/** The list as shown on pages, to everyone who may see the noun. The API returns it only to signed-in callers. */
export const shownDiscussions = (noun: Discussable): AnyEndpoint =>
  listing(noun, `show${noun.kind.type}Discussions`, noun.kind.discussed_at.visible(noun.kind.type));

/** The endpoints for threads on items of one kind. */
export function discussionRoutes(noun: Discussable): AnyEndpoint[] {
  const { name, type, discussed_at, endpoints } = noun.kind;
  const base = `${discussed_at.path}/discussions`;
  const access = discussed_at.reader(type);
  const thread = { discussion_id: Type.String() };
  const comment = { body: longText(Type.String()), created_at: CommentTime() };
  return endpoints([
    listing(noun, `list${type}Discussions`, access),
    post(base, {
      operation: `create${type}Discussion`,
      summary: `Create a discussion on ${withArticle(name)}`,
      description: describedText(noun),
      access,
      input: { ...comment, ...(noun.diff ? placed : {}), ...(noun.diff?.has_commits ? inCommit : {}) },
      rate: commentRate,
      returns: orCommands(noun, Discussion),
      refusals: { 400: [...writingTexts(noun), ...(noun.diff ? positionTexts : [])] },
      handle: async ({ plan, caller, on, input, ...services }) => {
        const { url } = services;
        const { position: given, commit_id, ...text }: typeof input & Placed = input;
        const position = given && (await noun.diff?.position(services, on, given, commit_id));
        const diff_commit_id = commit_id === undefined ? undefined : position?.head_sha;
        const written = await writeComment(
          { ...services, plan, noun },
          { caller, on },
          { ...text, position, diff_commit_id, thread: {} },
        );
        return outcomeOf(written, (note, changes) => presentDiscussion(url, [note], changes));
      },
    }),
    get(`${base}/:discussion_id`, {
      operation: `get${type}Discussion`,
      summary: 'Get a discussion',
      access,
      input: thread,
      returns: one(Discussion),
      refusals: { 404: '404 Discussion Not Found' },
      handle: async ({ db, url, input, ...granted }) =>
        presentDiscussion(url, await notesOfThread(db, granted, input.discussion_id, 'Discussion')),
    }),
    ...(noun.threads ? [resolutionRoute(noun.kind, noun.threads, `${base}/:discussion_id`)] : []),
    get(`${base}/:discussion_id/notes`, {
      operation: `list${type}DiscussionNotes`,
      summary: 'List the notes of a discussion, oldest first',
      access,
      input: { ...thread, ...numberedPaging },
      returns: pageOf(Note),
      refusals: { 404: '404 Notes Not Found' },
      handle: async ({ db, url, input, ...granted }) => {
        const notes = await notesOfThread(db, granted, input.discussion_id, 'Notes');
        return mapPage(pageOfArray(notes, input), (note) => presentNote(url, note));
      },
    }),
    post(`${base}/:discussion_id/notes`, {
      operation: `create${type}DiscussionNote`,
      summary: 'Add a note to a discussion',
      description: describedText(noun),
      access,
      input: { ...thread, ...comment },
      rate: commentRate,
      returns: orCommands(noun, Note),
      refusals: {
        400: [...writingTexts(noun), noReplyText],
        404: '404 Discussion Not Found',
      },
      handle: async ({ db, storages, url, plan, caller, on, input: { discussion_id, ...given } }) => {
        const written = await writeComment(
          { db, storages, url, plan, noun },
          { caller, on },
          { ...given, thread: { discussion_id } },
        );
        return outcomeOf(written, (note, changes) => presentNote(url, note, changes));
      },
    }),
    ...noteRoutesOf(noun, `${base}/:discussion_id/notes/:note_id`),
  ]);
}

const resolutionRoute = ({ type, discussed_at }: NoteableKind, threads: Threads, path: string): AnyEndpoint =>
  put(path, {
    operation: `resolve${type}Discussion`,
    summary: 'Resolve or reopen a discussion',
    access: discussed_at.reader(type),
    input: { discussion_id: Type.String(), resolved: Type.Boolean() },
    returns: one(Discussion),
    refusals: { 403: '403 Forbidden', 404: '404 Discussion Not Found' },
    handle: async ({ db, url, caller, on, input: { discussion_id, resolved } }) => {
      const granted = { caller, on };
      await notesOfThread(db, granted, discussion_id, 'Discussion');
      await resolveThread(db, threads, granted, discussion_id, resolved);
      return presentDiscussion(url, await notesOfThread(db, granted, discussion_id, 'Discussion'));
    },
  });

/**
 * The endpoints of one note of a thread. As in the reference, it may be in any thread of the item, whichever thread the
 * path names.
 */
function noteRoutesOf(noun: Discussable, path: string): AnyEndpoint[] {
  const { type, discussed_at } = noun.kind;
  const access = discussed_at.reader(type);
  const place = { discussion_id: Type.String(), note_id: Id };
  return [
    get(path, {
      operation: `get${type}DiscussionNote`,
      summary: 'Get a note of a discussion',
      access,
      input: place,
      returns: one(Note),
      handle: async ({ db, url, input, ...granted }) =>
        presentNote(url, await noteOf(db, granted, input.note_id, false)),
    }),
    put(path, {
      operation: `update${type}DiscussionNote`,
      summary: 'Update a note of a discussion',
      access,
      input: { ...place, ...(takesResolution(noun) ? textOrResolution : { body: longText(NotBlank()) }) },
      rules: takesResolution(noun) ? [exactlyOneOf('body', 'resolved')] : [],
      returns: orCommands(noun, Note),
      refusals: { 400: [...writingTexts(noun), ...(takesResolution(noun) ? [notResolvableText] : [])] },
      handle: async ({ db, storages, url, plan, caller, on, input }) => {
        const granted = { caller, on };
        const note = await noteOf(db, granted, input.note_id, false);
        const { body, resolved } = input as Change;
        if (body === undefined) {
          if (!noun.threads || resolved === undefined) throw notResolvable();
          await resolveNote(db, noun.threads, granted, note, resolved);
          return { body: presentNote(url, await noteOf(db, granted, note.id, false)) };
        }
        const written = await rewriteComment({ db, storages, url, plan, noun }, granted, note, body);
        return outcomeOf(written, (changed, changes) => presentNote(url, changed, changes));
      },
    }),
    del(path, {
      operation: `delete${type}DiscussionNote`,
      summary: 'Delete a note of a discussion',
      access,
      input: place,
      conditional: true,
      returns: nothing,
      handle: async ({ db, caller, on, input, unmodified_since }) => {
        const granted = { caller, on };
        await removeComment(db, noun, granted, await noteOf(db, granted, input.note_id, false), unmodified_since);
      },
    }),
  ];
}
