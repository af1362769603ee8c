/** Comments at the lines of changes: of a merge request, or of a commit. */
import { type Content, form, type Html, hidden, html, type Seen, textIn, withQuery } from '../../../pages/index.ts';
import type { DiffSource, FileDiff, Said } from '../diffs/definition.ts';
import type { DiffLine } from '../diffs/hunk_rules.ts';
import { files_per_batch } from '../diffs/views.ts';
import type { NoteTexts, ShownNote, Thread } from './definition.ts';
import { type draftButton, threadView } from './timeline_views.ts';
import { bodyField } from './views.ts';

/** The line of a new comment: the position of its file among all files, from 1, and its line numbers. */
interface LineAsked {
  number: number;
  old_line: number | undefined;
  new_line: number | undefined;
}

const pattern = /^([1-9]\d{0,6})\.(\d{0,9})\.(\d{0,9})$/;

/** What an address keeps of how the changes are shown. */
const shownAs = ['view', 'w'] as const;

/**
 * The addresses of the forms for comments on lines. They are short, because each line of a diff has one, and keep how the changes are shown.
 */
export function lineAddresses({ query }: Pick<Seen, 'query'>): DiffSource['commentAt'] {
  const kept = shownAs.map((name) => (textIn(query, name) === undefined ? '' : `${name}=${textIn(query, name)}&`));
  const start = `?${kept.join('')}at=`;
  return (number, line: DiffLine) => `${start}${number}.${line.old ?? ''}.${line.new ?? ''}#at-line`;
}

/** The line in the address of the page, if there is one. */
function lineAsked({ query }: Pick<Seen, 'query'>): LineAsked | undefined {
  const [, number, before, after] = pattern.exec(textIn(query, 'at') ?? '') ?? [];
  if (number === undefined) return undefined;
  const numbered = (text: string | undefined) => (text ? Number(text) : undefined);
  return { number: Number(number), old_line: numbered(before), new_line: numbered(after) };
}

/** What is asked of the changes: the page of files on which the line is. */
export function diffsAsked(seen: Seen): Seen {
  const line = lineAsked(seen);
  return line ? { ...seen, query: { ...seen.query, page: String(Math.ceil(line.number / files_per_batch)) } } : seen;
}

/** What stands at a line: a thread, or a comment that waits for others. */
export interface Remark {
  position:
    | Pick<NonNullable<ShownNote['position']>, 'old_path' | 'new_path' | 'old_line' | 'new_line'>
    | null
    | undefined;
  view(): Html;
}

/** Threads at their places. */
export const threadRemarks = (seen: Seen, threads: readonly Thread[], texts: NoteTexts): readonly Remark[] =>
  threads.map((thread) => ({ position: thread.notes[0]?.position, view: () => threadView(seen, thread, texts) }));

/** The commits between which the changes are. */
interface Refs {
  base_sha: string;
  start_sha: string;
  head_sha: string;
}

interface Commenting {
  /** Undefined where nobody can comment on a line. */
  refs: Refs | undefined;
  /** The name of the form that starts a thread, with further buttons. */
  form: string;
  also?: ReturnType<typeof draftButton>;
  /** Whether a comment may propose another text for the line. */
  may_suggest: boolean;
}

const isAbout = ({ position }: Remark, { new_path }: FileDiff): boolean =>
  (position?.new_path ?? position?.old_path) === new_path;

/** The remarks on a file, each below its line, and the form for a new comment. */
export const saidAbout = (
  seen: Seen,
  remarks: readonly Remark[],
  commenting: Commenting,
): NonNullable<DiffSource['said']> => {
  const asked = lineAsked(seen);
  const { refs } = commenting;
  return (file: FileDiff, number: number): Said => {
    const left = new Set(remarks.filter((each) => isAbout(each, file)));
    let isAsked = asked?.number === number && refs !== undefined;
    const shown = (remark: Remark): Html => {
      left.delete(remark);
      return remark.view();
    };
    const formAt = (text?: string): Content => {
      isAsked = false;
      return commentForm(seen, { ...commenting, refs: refs! }, file, { ...asked!, text });
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
  { refs, form: name, also, may_suggest }: Commenting & { refs: Refs },
  { old_path, new_path }: FileDiff,
  { number, old_line, new_line, text }: LineAsked & { text?: string | undefined },
): Html {
  const position = { ...refs, position_type: 'text', old_path, new_path, old_line, new_line };
  const given = Object.entries(position).filter(([, value]) => value !== undefined);
  const at = `${number}.${old_line ?? ''}.${new_line ?? ''}`;
  const action = withQuery(seen, { at, suggest: undefined, file: undefined, context: undefined });
  const maySuggest = may_suggest && text !== undefined && new_line !== undefined;
  const suggests = maySuggest && textIn(seen.query, 'suggest') !== undefined;
  return html`<section id="at-line" aria-labelledby="at-line-heading"><h4 id="at-line-heading">Comment on line ${new_line ?? old_line} of <code>${new_path}</code></h4>
${maySuggest && !suggests && html`<p><a href="${`${action}&suggest=1#at-line`}">Suggest a change of the line</a></p>`}
${form(seen, name, {
  fields: [
    bodyField('Comment', suggests ? { value: suggestionOf(text) } : {}),
    ...given.map(([name, value]) => hidden(`position[${name}]`, value)),
  ],
  button: 'Comment',
  ...also,
  action,
})}</section>`;
}

/** The address after a comment on a line: without the form, and with the anchor of the comment. @param id of the comment, if there is one */
export const afterLineComment = (call: Pick<Seen, 'path' | 'query'>, id: number | undefined): string =>
  `${withQuery(call, { at: undefined, suggest: undefined })}${id === undefined ? '' : `#note_${id}`}`;
