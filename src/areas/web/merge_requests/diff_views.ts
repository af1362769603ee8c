/** Files of a diff, and the form for a comment on one of their lines. */
import type { Static } from 'typebox';
import { form, type Html, hidden, html, type Seen, withQuery } from '../../../pages/index.ts';
import type { Diff } from '../../code/repository/index.ts';
import { linesIn } from '../../conversation/notes/index.ts';
import type { ShownMergeRequest } from './views.ts';

type FileDiff = Static<typeof Diff>;

/** More lines of a file are left out. */
const maximumLines = 3_000;

const kinds: Record<string, { name: string; words: string | undefined }> = {
  '+': { name: 'added', words: 'added' },
  '-': { name: 'removed', words: 'removed' },
  ' ': { name: 'same', words: undefined },
};

function statusOf({ new_file, deleted_file, renamed_file, old_path }: FileDiff): string | undefined {
  if (new_file) return 'new';
  if (deleted_file) return 'deleted';
  return renamed_file ? `renamed from ${old_path}` : undefined;
}

/** Where a line can be commented on. */
const lineAddress = (seen: Seen, { new_path }: FileDiff, old_line?: number, new_line?: number): string =>
  `${withQuery(seen, { file: new_path, old_line, new_line })}#comment`;

function rowsOf(seen: Seen, file: FileDiff, may: boolean): Html[] {
  const lines = linesIn(file.diff);
  const shown = file.diff.split('\n').slice(0, maximumLines);
  return shown.flatMap((text) => {
    const kind = kinds[text[0] ?? ''];
    if (!kind) return text.startsWith('@@') ? [html`<tr><td colspan="3" class="soft">${text}</td></tr>`] : [];
    const { old_line, new_line } = lines.next().value!;
    const link = (line: number | undefined) =>
      line !== undefined &&
      (may
        ? html`<a href="${lineAddress(seen, file, old_line, new_line)}" rel="nofollow" aria-label="${`Comment on line ${line}`}">${line}</a>`
        : line);
    return [
      html`<tr><td class="line">${link(old_line)}</td><td class="line">${link(new_line)}</td><td class="${kind.name}">${kind.words && html`<span class="visually-hidden">${kind.words}: </span>`}${text.slice(1)}</td></tr>`,
    ];
  });
}

/** A file with its changed lines. */
export function fileView(seen: Seen, file: FileDiff): Html {
  const status = statusOf(file);
  const hasMore = file.diff.split('\n', maximumLines + 1).length > maximumLines;
  return html`<section class="file"><h3><code>${file.new_path}</code>${status && html` <span class="label">${status}</span>`}</h3>
${
  file.diff === ''
    ? html`<p class="soft">${file.too_large || file.collapsed ? 'The changes are too large to be shown.' : 'There are no changed lines.'}</p>`
    : html`<div class="scroll"><table class="code"><thead class="visually-hidden"><tr><th scope="col">Old line</th><th scope="col">New line</th><th scope="col">Code</th></tr></thead><tbody>${rowsOf(seen, file, seen.may('thread') && seen.query.diff_id === undefined)}</tbody></table></div>`
}
${hasMore && html`<p class="soft">Only the first ${maximumLines} lines are shown.</p>`}</section>`;
}

const numberIn = ({ query }: Pick<Seen, 'query'>, name: string): number | undefined =>
  typeof query[name] === 'string' && /^\d{1,9}$/.test(query[name]) ? Number(query[name]) : undefined;

/** The form for a comment on the line that the address names, if it is one of this file. */
export function commentForm(
  seen: Seen,
  { diff_refs }: ShownMergeRequest,
  { new_path, old_path }: FileDiff,
): Html | undefined {
  const [old_line, new_line] = [numberIn(seen, 'old_line'), numberIn(seen, 'new_line')];
  if (seen.query.file !== new_path || !diff_refs || (old_line ?? new_line) === undefined) return undefined;
  const position = { ...diff_refs, position_type: 'text', old_path, new_path, old_line, new_line };
  const given = Object.entries(position).filter(([, value]) => value !== undefined);
  return html`<section id="comment" aria-labelledby="comment-heading"><h4 id="comment-heading">Comment on line ${new_line ?? old_line} of <code>${new_path}</code></h4>
${form(seen, 'thread', {
  fields: [
    { name: 'body', label: 'Comment', kind: 'area', is_required: true },
    ...given.map(([name, value]) => hidden(`position[${name}]`, value)),
  ],
  button: 'Comment',
  action: withQuery(seen, {}),
})}</section>`;
}
