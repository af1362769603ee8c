/** Comments on commits: the notes of their discussions, without the threads (docs/reference/discussions.md#comments-on-commits). */
import { type Static, Type } from 'typebox';
import { commitKind } from '../../../access/index.ts';
import {
  get,
  longText,
  nullable,
  one,
  optional,
  pageOf,
  post,
  type Rule,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { UserBasic } from '../../people/users/index.ts';
import { writeComment } from '../notes/comment_actions.ts';
import { presentNote } from '../notes/present.ts';
import { type NoteRow, notesFor } from '../notes/queries.ts';
import { commentRate } from '../notes/routes.ts';
import { describedText, writingTexts } from '../notes/rules.ts';
import { positionOfLine } from './git.ts';
import { commitNoun } from './noteable.ts';

const CommitComment = resource('CommitComment', {
  note: Type.String(),
  path: nullable(Type.String({ description: 'Of the file, for a comment on a diff' })),
  line: nullable(Type.Integer({ description: 'For a comment on a line' })),
  line_type: nullable(Type.Enum(['new', 'old'], { description: 'Null for an unchanged line, too' })),
  author: nullable(UserBasic),
  created_at: Timestamp,
});

function present(url: string, row: NoteRow): Static<typeof CommitComment> {
  const { body, author, created_at, position } = presentNote(url, row);
  const { new_path = null, old_path = null, old_line = null, new_line = null } = position ?? {};
  const isUnchanged = (old_line === null) === (new_line === null);
  return {
    note: body,
    path: new_path ?? old_path,
    line: new_line ?? old_line,
    line_type: isUnchanged ? null : new_line === null ? 'old' : 'new',
    author,
    created_at,
  };
}

const lineOfPath: Rule = (given) => (given.has('path') && !given.has('line') ? 'line is missing' : undefined);

const { commented_at } = commitKind;
const path = `${commented_at.path}/comments`;

export const commitCommentRoutes = [
  get(path, {
    operation: 'listCommitComments',
    summary: 'List the comments on a commit, oldest first',
    access: commented_at.visible(),
    input: paging,
    returns: pageOf(CommitComment),
    refusals: { 404: '404 Commit Not Found' },
    handle: async ({ db, url, caller, on, input }) => {
      const comments = notesFor(db, { caller, on }).where('notes.system', '=', false);
      const page = await paginate(db, comments.orderBy('notes.created_at').orderBy('notes.id'), input);
      return mapPage(page, (row) => present(url, row));
    },
  }),
  post(path, {
    operation: 'createCommitComment',
    summary: 'Create a comment on a commit',
    description: `${describedText(commitNoun)} A line that the diff does not add or remove is ignored.`,
    access: commented_at.reader(),
    input: {
      note: longText(Type.String()),
      path: optional(Type.String({ description: 'Of a file in the commit; requires `line`' })),
      line: optional(Type.Integer({ description: 'Number of an added or removed line' })),
      line_type: Type.Enum(['new', 'old'], { default: 'new', description: 'Whether the line was added or removed' }),
    },
    rules: [lineOfPath],
    rate: commentRate,
    returns: one(CommitComment),
    refusals: { 400: writingTexts(commitNoun), 404: '404 Commit Not Found' },
    handle: async ({ plan, caller, on, input: { note, path, line, line_type }, ...services }) => {
      const { url } = services;
      const position =
        path === undefined || line === undefined
          ? undefined
          : await positionOfLine(services, on, { path, line, line_type });
      const written = await writeComment(
        { ...services, plan, noun: commitNoun },
        { caller, on },
        { body: note, position },
      );
      return present(url, written.note!);
    },
  }),
];
