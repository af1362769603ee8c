/** Views of diffs: the list of files first, then the changes of each as a table. */
import type { Static } from 'typebox';
import { nextTurn } from '../../../foundation/loop_turns.ts';
import type { Page as ListPage } from '../../../http/index.ts';
import { type Content, chip, type Html, html, type Seen, withQuery } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import type { Diff } from '../../code/repository/index.ts';
import { countsOf, type DiffHead, type DiffLine, type LineCounts, linesOfDiff } from './hunk_rules.ts';

export type FileDiff = Static<typeof Diff>;

/** The source of the diffs of a page. */
export interface DiffSource {
  /**
   * A page of the files with their diffs.
   * @param paging at most 100 files per page
   */
  page(paging: { page: number; per_page: number }): Promise<ListPage<FileDiff>>;
  /** The address of a file before or after the changes; undefined if no page shows it. */
  fileAt(side: 'old' | 'new', path: string): string | undefined;
  /**
   * The address of the form for a comment on a line.
   * @param number the position of its file among all files, from 1
   */
  commentAt?(number: number, line: DiffLine): string;
  /** The comments on the changes of a file. */
  said?(file: FileDiff, number: number): Said;
}

/** The comments on the changes of a file. */
export interface Said {
  /** The content below a line. */
  at(line: DiffLine): Content;
  /** The content after the file: comments that belong to no displayed line. */
  rest(): Content;
}

/** A file with its changes. */
interface CountedFile {
  file: FileDiff;
  /** Its position among all files, from 1. */
  number: number;
  counts: LineCounts;
}

/** The number of files read at once, which is the unit of `?page=`. */
export const files_per_batch = 100;
/**
 * The limits of a page: further files are on the next page, and once this many lines have been shown, the remaining
 * diffs are collapsed.
 */
const batchesShown = 10;
const linesShown = 100_000;
/** Longer diffs are collapsed, with a link to show them. */
const foldedFrom_lines = 5_000;
/** The rest of a longer line is cut off. */
const lineEnd_chars = 2_000;

/** A positive number in a query. */
function numberIn({ query }: Pick<Seen, 'query'>, name: string): number | undefined {
  const value = query[name];
  return typeof value === 'string' && /^[1-9]\d{0,6}$/.test(value) ? Number(value) : undefined;
}

const kindOf = ({ new_file, deleted_file, renamed_file }: FileDiff): string =>
  new_file ? 'Added' : deleted_file ? 'Deleted' : renamed_file ? 'Renamed' : 'Changed';

const pathOf = ({ old_path, new_path, renamed_file }: FileDiff): Content =>
  renamed_file ? html`${old_path} → ${new_path}` : new_path;

const countsText = ({ added, removed }: LineCounts): Html =>
  html`<span class="soft">${counted(added, 'line')} added, ${removed} removed</span>`;

const textOf = (text: string): Content =>
  text.length <= lineEnd_chars
    ? text
    : html`${text.slice(0, lineEnd_chars)}<span class="soft"> … ${counted(text.length - lineEnd_chars, 'more character')}</span>`;

type CommentAt = (line: DiffLine) => string;

/**
 * End tags of rows and cells are omitted, as HTML allows: a diff has tens of thousands. Added and removed lines are
 * marked by the style, also for screen readers, so that copied text contains only code.
 */
function rowOf(line: DiffLine | DiffHead, commentAt: CommentAt | undefined): Html {
  if (!('old' in line)) return html`<tr class="${line.kind}"><td colspan="3">${line.text}\n`;
  const link = commentAt?.(line);
  const linked = (number: number | undefined): Content =>
    number !== undefined && link ? html`<a href="${link}">${number}</a>` : number;
  const { kind, text } = line;
  if (kind === 'same') return html`<tr><td>${line.old}<td>${linked(line.new)}<td>${textOf(text)}\n`;
  return html`<tr class="${kind}"><td>${linked(line.old)}<td>${linked(line.new)}<td>${textOf(text)}\n`;
}

/** The number of lines per slice; other requests are served between slices. */
const slice_lines = 200;

const saidRow = (content: Content): Html => html`<tr class="said"><td colspan="3">${content}\n`;

async function* tableOf(
  file: FileDiff,
  commentAt: CommentAt | undefined,
  said: Said | undefined,
): AsyncGenerator<Html> {
  yield html`<section class="scroll" tabindex="0" aria-label="${`Changes of ${file.new_path}`}"><table class="diff">
<caption class="visually-hidden">Changes with line numbers before and after${commentAt && ', which lead to a comment on the line'}</caption>
`;
  let rows: Html[] = [];
  for (const line of linesOfDiff(file.diff)) {
    rows.push(rowOf(line, commentAt));
    const content = said && 'old' in line ? said.at(line) : undefined;
    if (content) rows.push(saidRow(content));
    if (rows.length < slice_lines) continue;
    yield html`${rows}`;
    rows = [];
    await nextTurn();
  }
  yield html`${rows}</table></section>`;
}

/** The reason why the changes of a file are not shown as a table, if there is one. */
function insteadOf({ file, number, counts }: CountedFile, seen: Seen, isFolded: boolean): Html | undefined {
  if (file.too_large || file.collapsed)
    return html`<p class="soft">The changes are too large to be shown. Clone the repository to see them.</p>`;
  if (file.diff === '')
    return html`<p class="soft">${
      file.a_mode !== file.b_mode && !file.new_file && !file.deleted_file
        ? `The mode changes from ${file.a_mode} to ${file.b_mode}.`
        : 'The content does not change.'
    }</p>`;
  if (file.diff.startsWith('Binary files ')) return html`<p class="soft">The file is binary.</p>`;
  return isFolded
    ? html`<p><a href="${withQuery(seen, { file: number, page: undefined })}">Show the ${counted(counts.lines, 'line')} of this diff</a></p>`
    : undefined;
}

/** @param isFolded whether the changes are collapsed behind a link */
async function* fileOf(shown: CountedFile, source: DiffSource, seen: Seen, isFolded: boolean): AsyncGenerator<Html> {
  const { file, number, counts } = shown;
  const [before, after] = [
    file.new_file ? undefined : source.fileAt('old', file.old_path),
    file.deleted_file ? undefined : source.fileAt('new', file.new_path),
  ];
  yield html`<section class="file" id="${`file-${number}`}">
<h3>${pathOf(file)}</h3>
<p class="about">${chip(kindOf(file))} ${countsText(counts)}
${before && html`<a href="${before}">File before<span class="visually-hidden"> the change of ${file.old_path}</span></a>`}
${after && html`<a href="${after}">File after<span class="visually-hidden"> the change of ${file.new_path}</span></a>`}</p>
`;
  const said = source.said?.(file, number);
  const instead = insteadOf(shown, seen, isFolded);
  if (instead) yield instead;
  else yield* tableOf(file, source.commentAt && ((line) => source.commentAt!(number, line)), said);
  yield html`
</section>
${said?.rest()}
`;
  await nextTurn();
}

/** Counts lines, and yields to other requests in between. */
async function counting(files: readonly FileDiff[], first: number): Promise<CountedFile[]> {
  const found: CountedFile[] = [];
  for (const [index, file] of files.entries()) {
    found.push({ file, number: first + index, counts: countsOf(file.diff) });
    if (index % 10 === 9) await nextTurn();
  }
  return found;
}

const listOf = (files: readonly CountedFile[]): Html => html`<details class="files" ?open="${files.length <= 20}">
<summary>Files ${files[0]!.number} to ${files.at(-1)!.number}</summary>
<ol start="${files[0]!.number}">${files.map(
  ({ file, number, counts }) =>
    html`<li><a href="${`#file-${number}`}">${pathOf(file)}</a> ${chip(kindOf(file))} ${countsText(counts)}</li>`,
)}</ol>
</details>
`;

/** A single file, whatever its size. */
async function* oneFile(source: DiffSource, seen: Seen, number: number): AsyncGenerator<Html> {
  const { items } = await source.page({ page: number, per_page: 1 });
  yield html`<p><a href="${withQuery(seen, { file: undefined })}">All files</a></p>`;
  if (items.length === 0) yield html`<p class="soft">There is no such file.</p>`;
  for (const file of await counting(items, number)) yield* fileOf(file, source, seen, false);
}

/**
 * Links to the files before and after the displayed ones. @param first the first batch shown @param next the first
 * batch not shown, if there are more
 */
const otherFiles = (first: number, next: number | undefined, seen: Seen): Html | undefined =>
  first === 1 && next === undefined
    ? undefined
    : html`<nav class="pager" aria-label="Pages"><ul>
${first > 1 && html`<li><a rel="prev" href="${withQuery(seen, { page: Math.max(1, first - batchesShown) })}">Files before these</a></li>`}
${next !== undefined && html`<li><a rel="next" href="${withQuery(seen, { page: next })}">Files from ${(next - 1) * files_per_batch + 1} on</a></li>`}
</ul></nav>`;

/**
 * The diffs of files, in pieces: files are read by the hundred, and lines written in slices, so that memory stays low
 * for a large change. `?page=` continues, and `?file=` shows a single file.
 */
export async function* diffPieces(source: DiffSource, seen: Seen): AsyncGenerator<Html> {
  const asked = numberIn(seen, 'file');
  yield html`<h2 id="changes">Changes</h2>\n`;
  if (asked !== undefined) {
    yield* oneFile(source, seen, asked);
    return;
  }
  const first = numberIn(seen, 'page') ?? 1;
  let rest_lines = linesShown;
  for (let batch = first; ; batch++) {
    const files = await source.page({ page: batch, per_page: files_per_batch });
    const shown = await counting(files.items, (batch - 1) * files_per_batch + 1);
    if (batch === first && files.total !== undefined) yield html`<p>${counted(files.total, 'file')} changed.</p>`;
    if (shown.length > 0) yield listOf(shown);
    for (const file of shown) {
      const { lines } = file.counts;
      const isFolded = lines > foldedFrom_lines || rest_lines <= 0;
      if (!isFolded) rest_lines -= lines;
      yield* fileOf(file, source, seen, isFolded);
    }
    const isLast = !files.has_more || batch + 1 === first + batchesShown || rest_lines <= 0;
    if (!isLast) continue;
    yield html`${otherFiles(first, files.has_more ? batch + 1 : undefined, seen)}`;
    return;
  }
}

/**
 * A source of diffs that are already in memory.
 * @param files all files of the diff
 */
export const pagesOfDiffs =
  (files: readonly FileDiff[]): DiffSource['page'] =>
  async ({ page, per_page }) => ({
    items: files.slice((page - 1) * per_page, page * per_page),
    page,
    per_page,
    total: files.length,
    has_more: files.length > page * per_page,
  });
