/** Views of diffs: the list of files first, then the changes of each as a table (docs/reference/repository_pages.md#changes). */
import { nextTurn } from '../../../foundation/loop_turns.ts';
import { type Content, chip, copyButton, type Html, html, icon, type Seen, withQuery } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { type Colours, coloursOf, noColours } from './colour_queries.ts';
import type { DiffSource, FileDiff, FileMarks, Viewed } from './definition.ts';
import { foldingReason } from './fold_rules.ts';
import { countsOf, expanded, type Hunk, hunksOf, type LineCounts, withoutSpaceChanges } from './hunk_rules.ts';
import { tableOf } from './table_views.ts';

export type { DiffSource } from './definition.ts';

/** A file with its changes. */
interface CountedFile {
  file: FileDiff;
  /** Its position among all files, from 1. */
  number: number;
  counts: LineCounts;
  viewed: Viewed | undefined;
}

/** The number of files read at once, which is the unit of `?page=`. */
export const files_per_batch = 100;
/**
 * The limits of a page: further files are on the next page, and once this many lines have been shown, the remaining
 * diffs are collapsed.
 */
const batchesShown = 10;
const linesShown = 100_000;
/** Further lines of a page have no colours. */
const linesColoured = 20_000;
/** Longer diffs are collapsed, with a link to show them. */
const foldedFrom_lines = 5_000;
/** By how many lines the context grows, and how many all are. */
const contextStep_lines = 20;
const wholeContext_lines = 20_000;

/** A positive number in a query. */
function numberIn({ query }: Pick<Seen, 'query'>, name: string): number | undefined {
  const value = query[name];
  return typeof value === 'string' && /^[1-9]\d{0,6}$/.test(value) ? Number(value) : undefined;
}

/** How the changes are shown. */
const isParallel = ({ query, caller }: Seen): boolean =>
  query.view === undefined ? caller?.session.preferences.diffs === 'side_by_side' : query.view === 'parallel';
const ignoresSpace = ({ query, caller }: Seen): boolean =>
  query.w === undefined ? caller?.session.preferences.shows_space === false : query.w === '1';

const kindOf = ({ new_file, deleted_file, renamed_file }: FileDiff): string =>
  new_file ? 'Added' : deleted_file ? 'Deleted' : renamed_file ? 'Renamed' : 'Changed';

const pathOf = ({ old_path, new_path, renamed_file }: FileDiff): Content =>
  renamed_file ? html`${old_path} → ${new_path}` : new_path;

const countsText = ({ added, removed }: LineCounts): Html =>
  html`<span class="counts"><span class="good">+${added}</span> <span class="bad">−${removed}</span><span class="visually-hidden"> lines</span></span>`;

/** The address that shows a file alone, in place of what there is of it. */
const aloneAt = (
  seen: Seen,
  number: number,
  more: Readonly<Record<string, string | number | undefined>> = {},
): string => `${withQuery(seen, { page: undefined, at: undefined, file: number, ...more })}#file-${number}`;

/** A link that shows a file in another way: in place where JavaScript is on, otherwise on a page of its own. */
const swapLink = (number: number, address: string, text: Content): Html =>
  html`<a href="${address}" data-swap="${`file-${number}`}">${text}</a>`;

/** A file that is ready to be shown. */
interface PreparedFile extends CountedFile {
  hunks: readonly Hunk[];
  colours: Colours;
  marks: FileMarks | undefined;
  /** The lines of context around each hunk, beyond those of the diff. */
  context: number;
}

/** Reads what the table of a file needs. @param context how many further lines are shown around each hunk */
async function prepared(
  counted: CountedFile,
  { owner, textOf, marks }: DiffSource,
  seen: Seen,
  { isColoured, context }: { isColoured: boolean; context: number },
): Promise<PreparedFile> {
  const { file } = counted;
  let hunks = hunksOf(file.diff);
  const text = context > 0 && !file.new_file && !file.deleted_file ? await textOf?.(file.new_path) : undefined;
  if (text !== undefined) hunks = expanded(hunks, text.replace(/\n$/, '').split('\n'), context);
  if (ignoresSpace(seen)) hunks = withoutSpaceChanges(hunks);
  const colours = isColoured && owner !== undefined ? await coloursOf(hunks, file.new_path, owner) : noColours;
  const after = () =>
    hunks.flatMap(({ lines }) =>
      lines.flatMap(({ new: number, text: line }) => (number === undefined ? [] : [{ number, text: line }])),
    );
  return { ...counted, hunks, colours, context, marks: marks?.(file.new_path, after) };
}

/** The reason why the changes of a file are not shown as a table, if there is one. */
function insteadOf({ file, number, hunks }: PreparedFile, seen: Seen): Html | undefined {
  if (file.too_large || file.collapsed)
    return html`<p class="soft">The changes are too large to be shown. Clone the repository to see them.</p>`;
  if (file.diff === '')
    return html`<p class="soft">${
      file.a_mode !== file.b_mode && !file.new_file && !file.deleted_file
        ? `The mode changes from ${file.a_mode} to ${file.b_mode}.`
        : 'The content does not change.'
    }</p>`;
  if (file.diff.startsWith('Binary files ')) return html`<p class="soft">The file is binary.</p>`;
  return hunks.length === 0
    ? html`<p class="soft">Only white space changes. ${swapLink(number, aloneAt(seen, number, { w: 0 }), 'Show it')}</p>`
    : undefined;
}

/** Links to more of the lines around the changes. */
function moreOf({ file, number, context }: PreparedFile, { textOf }: DiffSource, seen: Seen): Content {
  if (!textOf || file.new_file || file.deleted_file || context >= wholeContext_lines) return undefined;
  const wider = aloneAt(seen, number, { context: context + contextStep_lines });
  const whole = aloneAt(seen, number, { context: 'all' });
  return html`${icon('fold')}${swapLink(number, wider, `Show ${contextStep_lines} more lines`)} ${swapLink(number, whole, 'Show all')} `;
}

/** git shows three lines behind the last change; with fewer, the file ends. */
function hasMoreBelow({ hunks, context }: PreparedFile): boolean {
  const lines = hunks.at(-1)?.lines ?? [];
  const behind = lines.length - 1 - lines.findLastIndex(({ kind }) => kind !== 'same');
  return behind >= 3 + context;
}

function headOf({ file, counts, viewed }: CountedFile, source: DiffSource, marks?: FileMarks): Html {
  const [before, after] = [
    file.new_file ? undefined : source.fileAt('old', file.old_path),
    file.deleted_file ? undefined : source.fileAt('new', file.new_path),
  ];
  return html`<header><h3>${pathOf(file)}</h3>${copyButton(file.new_path, `Copy the path ${file.new_path}`)}<span class="grow"></span>${marks?.head} ${countsText(counts)} ${chip(kindOf(file))}
${before && html`<a href="${before}">File before<span class="visually-hidden"> the change of ${file.old_path}</span></a>`}
${after && html`<a href="${after}">File after<span class="visually-hidden"> the change of ${file.new_path}</span></a>`}${viewed?.form()}</header>
`;
}

/** What a form in a file replaces where JavaScript is on. */
const partsOf = ({ parts }: DiffSource, number: number): string | undefined =>
  parts && [`file-${number}`, ...parts].join(' ');

/** A file whose changes are shown when they are asked for. */
function* foldedFile(shown: CountedFile, source: DiffSource, seen: Seen, reason: string | undefined): Generator<Html> {
  const { file, number, counts } = shown;
  yield html`<section class="file" id="${`file-${number}`}" ?data-part="${partsOf(source, number)}">
${headOf(shown, source)}<p>${reason && `${reason} `}${swapLink(number, aloneAt(seen, number), `Show the ${counted(counts.lines, 'line')} of this diff`)}</p>
</section>
${source.said?.(file, number).rest()}
`;
}

async function* fileOf(shown: PreparedFile, source: DiffSource, seen: Seen): AsyncGenerator<Html> {
  const { file, number, hunks, colours, marks } = shown;
  yield html`<section class="file" id="${`file-${number}`}" ?data-part="${partsOf(source, number)}">
${headOf(shown, source, marks)}`;
  const said = source.said?.(file, number);
  const { commentAt } = source;
  const instead = insteadOf(shown, seen);
  if (instead) yield instead;
  else
    yield* tableOf({
      path: file.new_path,
      ...{ hunks, colours, said, marks },
      isParallel: isParallel(seen),
      more: moreOf(shown, source, seen),
      hasMoreBelow: hasMoreBelow(shown),
      commentAt: commentAt && ((line) => commentAt(number, line)),
    });
  yield html`
</section>
${said?.rest()}
`;
  await nextTurn();
}

/** Counts lines, and yields to other requests in between. */
async function counting(files: readonly FileDiff[], first: number, source: DiffSource): Promise<CountedFile[]> {
  const found: CountedFile[] = [];
  for (const [index, file] of files.entries()) {
    const number = first + index;
    found.push({ file, number, counts: countsOf(file.diff), viewed: source.viewed?.(file, number) });
    if (index % 10 === 9) await nextTurn();
  }
  return found;
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** The files by folder, each with the number of its lines. */
function listOf(files: readonly CountedFile[]): Html {
  const folders = Map.groupBy(files, ({ file }) => folderOf(file.new_path));
  return html`<details class="files" open><summary>Files ${files[0]!.number} to ${files.at(-1)!.number}</summary>
<ul>${[...folders].map(
    ([folder, those]) =>
      html`${folder !== '' && html`<li class="soft">${icon('folder')} ${folder}</li>`}${those.map(
        ({ file, number, counts }) =>
          html`<li><a href="${`#file-${number}`}" title="${file.new_path}">${icon('file')}<span class="grow">${file.new_path.slice(folder === '' ? 0 : folder.length + 1)}</span>${countsText(counts)}</a></li>`,
      )}`,
  )}</ul></details>
`;
}

/** How many files the reader has viewed; left out where not all files are on the page. */
function viewedCount({ viewed }: DiffSource, files: readonly CountedFile[], isPart: boolean): Content {
  if (!viewed) return undefined;
  const count = files.filter((file) => file.viewed?.is_viewed).length;
  return html`<span id="viewed">${!isPart && files.length > 0 && `Viewed ${count} of ${files.length}`}</span>`;
}

/** The switches for how the changes are shown. */
function switches(seen: Seen): Html {
  const parallel = isParallel(seen);
  const view = (name: string, text: string, isCurrent: boolean) =>
    html`<a class="button" href="${withQuery(seen, { view: name })}" rel="nofollow" ?aria-current="${isCurrent && 'true'}">${text}</a>`;
  return html`<span class="group">${view('inline', 'Inline', !parallel)}${view('parallel', 'Side by side', parallel)}</span>
<a class="button" href="${withQuery(seen, { w: ignoresSpace(seen) ? 0 : 1 })}" rel="nofollow">${ignoresSpace(seen) ? 'Show white space' : 'Hide white space'}</a>`;
}

/** How many lines are shown around the changes of a file that is shown alone. */
function contextIn({ query }: Seen): number {
  if (query.context === 'all') return wholeContext_lines;
  return Math.min(numberIn({ query }, 'context') ?? 0, wholeContext_lines);
}

/** A single file, whatever its size. */
async function* oneFile(source: DiffSource, seen: Seen, number: number): AsyncGenerator<Html> {
  const { items } = await source.page({ page: number, per_page: 1 });
  yield html`<div class="bar"><a class="grow" href="${`${withQuery(seen, { file: undefined, context: undefined })}#file-${number}`}">All files</a>${switches(seen)}</div>`;
  if (items.length === 0) yield html`<p class="soft">There is no such file.</p>`;
  for (const file of await counting(items, number, source)) {
    const isColoured = file.counts.lines <= linesColoured;
    yield* fileOf(await prepared(file, source, seen, { isColoured, context: contextIn(seen) }), source, seen);
  }
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

/** How many files are prepared while one is written. */
const preparedAhead = 3;

/** Writes files one after the other, within the limits of a page. */
class FileWriter {
  readonly #source: DiffSource;
  readonly #seen: Seen;
  #rest_lines = linesShown;
  #coloured_lines = linesColoured;

  constructor(source: DiffSource, seen: Seen) {
    this.#source = source;
    this.#seen = seen;
  }

  /** Whether no further file is shown with its changes. */
  get isFull(): boolean {
    return this.#rest_lines <= 0;
  }

  /** Why a file is folded, if it is: what it is, or nothing if it is only long. */
  #fold({ file, counts, viewed }: CountedFile): { reason: string | undefined } | undefined {
    const reason = foldingReason(file.new_path, file.diff);
    if (viewed?.is_viewed) return { reason: undefined };
    if (reason !== undefined && counts.lines > 0) return { reason };
    if (counts.lines > foldedFrom_lines || this.isFull) return { reason: undefined };
    this.#rest_lines -= counts.lines;
    return undefined;
  }

  #prepare(file: CountedFile): Promise<PreparedFile> {
    const isColoured = this.#coloured_lines > 0;
    this.#coloured_lines -= file.counts.lines;
    const preparing = prepared(file, this.#source, this.#seen, { isColoured, context: 0 });
    // Whoever leaves the page does not wait for it.
    preparing.catch(() => undefined);
    return preparing;
  }

  async *write(files: readonly CountedFile[]): AsyncGenerator<Html> {
    const queue: (() => AsyncGenerator<Html> | Generator<Html>)[] = [];
    for (const file of files) {
      const fold = this.#fold(file);
      const preparing = fold ? undefined : this.#prepare(file);
      queue.push(() => (preparing ? this.#show(preparing) : foldedFile(file, this.#source, this.#seen, fold?.reason)));
      if (queue.length > preparedAhead) yield* queue.shift()!();
    }
    for (const show of queue) yield* show();
  }

  async *#show(preparing: Promise<PreparedFile>): AsyncGenerator<Html> {
    yield* fileOf(await preparing, this.#source, this.#seen);
  }
}

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
  const writer = new FileWriter(source, seen);
  for (let batch = first; ; batch++) {
    const files = await source.page({ page: batch, per_page: files_per_batch });
    const shown = await counting(files.items, (batch - 1) * files_per_batch + 1, source);
    if (batch === first)
      yield html`<div class="bar"><span class="grow">${files.total !== undefined && `${counted(files.total, 'file')} changed.`}</span>${viewedCount(source, shown, files.has_more || batch > 1)}${shown.length > 0 && switches(seen)}</div>`;
    if (shown.length > 0) yield html`<div class="beside">${listOf(shown)}<div>`;
    yield* writer.write(shown);
    if (shown.length > 0) yield html`</div></div>`;
    const isLast = !files.has_more || batch + 1 === first + batchesShown || writer.isFull;
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
