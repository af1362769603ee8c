/** Comments on the lines of a diff. */
import { type Content, form, type Html, hidden, html, type Seen, textIn } from '../../../pages/index.ts';
import type { DiffLine } from '../diffs/hunk_rules.ts';
import type { FileDiff, Said } from '../diffs/views.ts';
import type { NoteTexts, ShownNote, Thread } from '../issuables/definition.ts';
import { draftButton, threadView } from '../issuables/timeline_views.ts';
import { bodyField } from '../issuables/views.ts';
import { type Draft, draftView } from './review_views.ts';
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

/** A thread or a pending comment, at the place that it is about. */
interface Remark {
  position: ShownNote['position'] | Draft['position'];
  view(): Html;
}

const isAbout = ({ position }: Remark, { new_path }: FileDiff): boolean =>
  (position?.new_path ?? position?.old_path) === new_path;

interface Conversation {
  threads: readonly Thread[];
  texts: NoteTexts;
  /** The pending comments of the reader. */
  drafts: readonly Draft[];
}

/** The threads on a file, each below its line, and the form for a new comment. */
export const saidAbout = (seen: Seen, { diff_refs }: ShownMergeRequest, { threads, texts, drafts }: Conversation) => {
  const asked = lineAsked(seen);
  return (file: FileDiff, number: number): Said => {
    const remarks: readonly Remark[] = [
      ...threads.map((thread) => ({
        position: thread.notes[0]?.position,
        view: () => threadView(seen, thread, texts),
      })),
      ...drafts.map((draft) => ({ position: draft.position, view: () => draftView(seen, draft) })),
    ];
    const left = new Set(remarks.filter((each) => isAbout(each, file)));
    let isAsked = asked?.number === number && diff_refs !== null;
    const shown = (remark: Remark): Html => {
      left.delete(remark);
      return remark.view();
    };
    const formAt = (text?: string): Content => {
      isAsked = false;
      return commentForm(seen, diff_refs!, file, { ...asked!, text });
    };
    return {
      at(line) {
        const here = [...left].filter(
          ({ position }) =>
            (position?.new_line ?? undefined) === line.new && (position?.old_line ?? undefined) === line.old,
        );
        const isHere = isAsked && asked?.new_line === line.new && asked?.old_line === line.old;
        return here.length === 0 && !isHere ? undefined : [here.map(shown), isHere && formAt(line.text)];
      },
      // Threads on lines of other versions, and on lines that are not shown.
      rest: () => [[...left].map(shown), isAsked && formAt()],
    };
  };
};

/** A suggestion that leaves a line as it is, to be changed by hand. */
const suggestionOf = (text: string): string => `\`\`\`suggestion\n${text}\n\`\`\`\n`;

function commentForm(
  seen: Seen,
  refs: NonNullable<ShownMergeRequest['diff_refs']>,
  { old_path, new_path }: FileDiff,
  { number, old_line, new_line, text }: LineAsked & { text?: string | undefined },
): Html {
  const position = { ...refs, position_type: 'text', old_path, new_path, old_line, new_line };
  const given = Object.entries(position).filter(([, value]) => value !== undefined);
  const action = `${seen.path}?at=${number}.${old_line ?? ''}.${new_line ?? ''}`;
  const maySuggest = text !== undefined && new_line !== undefined;
  const suggests = maySuggest && textIn(seen.query, 'suggest') !== undefined;
  return html`<section id="comment" aria-labelledby="comment-heading"><h4 id="comment-heading">Comment on line ${new_line ?? old_line} of <code>${new_path}</code></h4>
${maySuggest && !suggests && html`<p><a href="${`${action}&suggest=1#comment`}">Suggest a change of the line</a></p>`}
${form(seen, 'thread', {
  fields: [
    bodyField('Comment', suggests ? { value: suggestionOf(text) } : {}),
    ...given.map(([name, value]) => hidden(`position[${name}]`, value)),
  ],
  button: 'Comment',
  ...draftButton(seen),
  action,
})}</section>`;
}
