/** Comments on the lines of a diff. */
import { type Content, form, type Html, hidden, html, type Seen, textIn } from '../../../pages/index.ts';
import type { DiffLine } from '../diffs/hunk_rules.ts';
import type { FileDiff, Said } from '../diffs/views.ts';
import type { NoteTexts, Thread } from '../issuables/definition.ts';
import { threadView } from '../issuables/timeline_views.ts';
import { bodyField } from '../issuables/views.ts';
import type { ShownMergeRequest } from './views.ts';

/** The line of a new comment: the position of its file among all files, from 1, and its line numbers. */
export interface LineAsked {
  number: number;
  old_line: number | undefined;
  new_line: number | undefined;
}

const pattern = /^([1-9]\d{0,6})\.(\d{0,9})\.(\d{0,9})$/;

/** The address of the form for a comment on a line. It is short, because each line of a diff has one. */
export const lineAddress = (number: number, line: DiffLine): string =>
  `?at=${number}.${line.old ?? ''}.${line.new ?? ''}#comment`;

/** The line in the address of the page, if there is one. */
export function lineAsked({ query }: Pick<Seen, 'query'>): LineAsked | undefined {
  const [, number, before, after] = pattern.exec(textIn(query, 'at') ?? '') ?? [];
  if (number === undefined) return undefined;
  const numbered = (text: string | undefined) => (text ? Number(text) : undefined);
  return { number: Number(number), old_line: numbered(before), new_line: numbered(after) };
}

const positionOf = ({ notes: [first] }: Thread) => first?.position;

const isAbout = (thread: Thread, { new_path }: FileDiff): boolean => {
  const position = positionOf(thread);
  return (position?.new_path ?? position?.old_path) === new_path;
};

interface Conversation {
  threads: readonly Thread[];
  texts: NoteTexts;
}

/** The threads on a file, each below its line, and the form for a new comment. */
export const saidAbout = (seen: Seen, { diff_refs }: ShownMergeRequest, { threads, texts }: Conversation) => {
  const asked = lineAsked(seen);
  return (file: FileDiff, number: number): Said => {
    const left = new Set(threads.filter((thread) => isAbout(thread, file)));
    let isAsked = asked?.number === number && diff_refs !== null;
    const shown = (thread: Thread): Html => {
      left.delete(thread);
      return threadView(seen, thread, texts);
    };
    const formAt = (): Content => {
      isAsked = false;
      return commentForm(seen, diff_refs!, file, asked!);
    };
    return {
      at(line) {
        const here = [...left].filter((thread) => {
          const position = positionOf(thread);
          return (position?.new_line ?? undefined) === line.new && (position?.old_line ?? undefined) === line.old;
        });
        const isHere = isAsked && asked?.new_line === line.new && asked?.old_line === line.old;
        return here.length === 0 && !isHere ? undefined : [here.map(shown), isHere && formAt()];
      },
      // Threads on lines of other versions, and on lines that are not shown.
      rest: () => [[...left].map(shown), isAsked && formAt()],
    };
  };
};

function commentForm(
  seen: Seen,
  refs: NonNullable<ShownMergeRequest['diff_refs']>,
  { old_path, new_path }: FileDiff,
  { number, old_line, new_line }: LineAsked,
): Html {
  const position = { ...refs, position_type: 'text', old_path, new_path, old_line, new_line };
  const given = Object.entries(position).filter(([, value]) => value !== undefined);
  return html`<section id="comment" aria-labelledby="comment-heading"><h4 id="comment-heading">Comment on line ${new_line ?? old_line} of <code>${new_path}</code></h4>
${form(seen, 'thread', {
  fields: [bodyField('Comment'), ...given.map(([name, value]) => hidden(`position[${name}]`, value))],
  button: 'Comment',
  action: `${seen.path}?at=${number}.${old_line ?? ''}.${new_line ?? ''}`,
})}</section>`;
}
