/** Discussions: the comments on issues and epics as threads (discussions.md). */
import { Type } from 'typebox';
import {
  type AnyEndpoint,
  alsoUnder,
  del,
  get,
  Id,
  listOf,
  NotBlank,
  nothing,
  one,
  optional,
  pageOf,
  paging,
  post,
  put,
} from '../../../http/index.ts';
import { removeComment, rewriteComment, writeComment } from '../notes/comment_actions.ts';
import { Note, presentNote } from '../notes/index.ts';
import { type Kind, readerOf } from './parent.ts';
import { Discussion, discussionOrCommands, noteOrCommands, outcomeOf, presentDiscussion } from './present.ts';
import { noteOf, notesOfThread, threadsOf } from './queries.ts';

/** How often somebody may comment. */
export const commentRate = { setting: 'notes_create_limit', spared: 'notes_create_limit_allowlist', window_s: 60 } as const;

export const CommentTime = () =>
  optional(Type.String({ format: 'date-time', description: 'Counts for administrators and owners of the project or group' }));

function routesOf(kind: Kind, base: string) {
  const access = readerOf(kind);
  const thread = { discussion_id: Type.String() };
  const comment = { body: Type.String(), created_at: CommentTime() };
  return [
    get(base, {
      summary: `List the threads and comments on an ${kind}, oldest first`,
      access,
      input: paging,
      returns: pageOf(Discussion),
      handle: async ({ db, url, input, ...granted }) => {
        const page = await threadsOf(db, granted, input);
        return { ...page, items: page.items.map(({ notes }) => presentDiscussion(url, notes)) };
      },
    }),
    post(base, {
      summary: `Begin a thread on an ${kind}`,
      access,
      input: comment,
      rate: commentRate,
      returns: discussionOrCommands,
      handle: async ({ db, url, plan, caller, parent, input }) => {
        const written = await writeComment({ db, url, plan }, { caller, parent }, { ...input, thread: {} });
        return outcomeOf(written, (note, changes) => presentDiscussion(url, [note], changes));
      },
    }),
    get(`${base}/:discussion_id`, {
      summary: 'Show a thread or comment',
      access,
      input: thread,
      returns: one(Discussion),
      handle: async ({ db, url, input, ...granted }) =>
        presentDiscussion(url, await notesOfThread(db, granted, input.discussion_id, 'Discussion')),
    }),
    get(`${base}/:discussion_id/notes`, {
      summary: 'List the notes of a thread, oldest first',
      access,
      input: thread,
      returns: listOf(Note),
      handle: async ({ db, url, input, ...granted }) =>
        (await notesOfThread(db, granted, input.discussion_id, 'Notes')).map((note) => presentNote(url, note)),
    }),
    post(`${base}/:discussion_id/notes`, {
      summary: 'Answer in a thread; a comment that is answered becomes one',
      access,
      input: { ...thread, ...comment },
      rate: commentRate,
      returns: noteOrCommands,
      handle: async ({ db, url, plan, caller, parent, input: { discussion_id, ...given } }) => {
        const written = await writeComment({ db, url, plan }, { caller, parent }, { ...given, thread: { discussion_id } });
        return outcomeOf(written, (note, changes) => presentNote(url, note, changes));
      },
    }),
    ...noteRoutesOf(kind, `${base}/:discussion_id/notes/:note_id`),
  ];
}

/** One note of a thread. It is looked for on the issue or epic, whichever thread the path names, as the reference does. */
function noteRoutesOf(kind: Kind, path: string) {
  const access = readerOf(kind);
  const place = { discussion_id: Type.String(), note_id: Id };
  return [
    get(path, {
      summary: 'Show a note of a thread',
      access,
      input: place,
      returns: one(Note),
      handle: async ({ db, url, input, ...granted }) => presentNote(url, await noteOf(db, granted, input.note_id, false)),
    }),
    put(path, {
      summary: 'Change a note of a thread',
      access,
      input: { ...place, body: NotBlank() },
      returns: noteOrCommands,
      handle: async ({ db, url, plan, caller, parent, input }) => {
        const granted = { caller, parent };
        const note = await noteOf(db, granted, input.note_id, false);
        const written = await rewriteComment({ db, url, plan }, granted, note, input.body);
        return outcomeOf(written, (changed, changes) => presentNote(url, changed, changes));
      },
    }),
    del(path, {
      summary: 'Remove a note of a thread',
      access,
      input: place,
      returns: nothing,
      handle: async ({ db, caller, parent, input, unmodified_since }) => {
        const granted = { caller, parent };
        await removeComment(db, granted, await noteOf(db, granted, input.note_id, false), unmodified_since);
      },
    }),
  ];
}

/** Those of epics, which need a plan and have two addresses. */
export const ofEpics = (endpoints: readonly AnyEndpoint[]): AnyEndpoint[] =>
  alsoUnder(
    '/epics',
    '/-/epics',
    endpoints.map((endpoint): AnyEndpoint => ({ ...endpoint, plan: 'ultimate' })),
  );

export const discussionRoutes: AnyEndpoint[] = [
  ...routesOf('issue', '/projects/:id/issues/:issue_iid/discussions'),
  ...ofEpics(routesOf('epic', '/groups/:id/epics/:epic_id/discussions')),
];
