/** Views of files. */
import type { Static } from 'typebox';
import { commitKind } from '../../../access/index.ts';
import {
  type Content,
  copyButton,
  face,
  type Html,
  html,
  icon,
  menu,
  pager,
  type Seen,
  sanitised,
  time,
  type View,
} from '../../../pages/index.ts';
import { counted, sizeText } from '../../../texts/index.ts';
import { blobPage, type ListedCommit } from '../../code/repository/index.ts';
import type { ErrorMarker, ErrorMarks } from '../errors/mark_views.ts';
import { blamePage, commitsPage, deletionPage, editPage, joined, rawPage, uploadPage } from './address_rules.ts';
import type { ShownFile } from './file_queries.ts';
import { lineEnd_chars, linesOnPage } from './line_rules.ts';
import { isRendered } from './markdown_present.ts';
import type { RefPath } from './ref_queries.ts';
import { refSwitch, type ShownRefs } from './ref_views.ts';
import type { Level } from './tree_queries.ts';
import { folderOf, pathLinks, treeBeside } from './tree_views.ts';

/** A commit as the head of what it changed. */
type HeadCommit = Pick<Static<typeof ListedCommit>, 'id' | 'short_id' | 'title' | 'author_name' | 'committed_date'>;

/** What the pages of a file have around its content. */
export interface FilePlace {
  place: RefPath;
  file: ShownFile;
  /** The last commit that changed the file. */
  last: HeadCommit;
  refs: ShownRefs;
  /** The folders on the way to the file. */
  levels: readonly Level[];
}

export interface Blob extends FilePlace {
  /** The rendered Markdown, unless its source is requested. */
  rendered: Html | undefined;
  /** The highlighted lines as HTML, if the language is known. */
  colours: readonly string[] | undefined;
  /** Marks the open errors of the project. */
  marker: ErrorMarker | undefined;
}

const lines_per_page = 10_000;

/** A line as text, of which the rest is cut off if it is long. */
export const lineText = (line: string): Content =>
  line.length <= lineEnd_chars
    ? line
    : html`${line.slice(0, lineEnd_chars)}<span class="soft"> … ${counted(line.length - lineEnd_chars, 'more character')}</span>`;

/** The number of the requested page of lines. */
export const pageIn = ({ query }: Pick<Seen, 'query'>): number =>
  typeof query.page === 'string' && /^[1-9]\d{0,5}$/.test(query.page) ? Number(query.page) : 1;

/** Each line has an anchor, `#L12`, to which its number links. End tags are omitted, as HTML allows. */
function linesView({ file, colours }: Blob, marks: ErrorMarks | undefined, seen: Seen): Html {
  const page = pageIn(seen);
  const { lines, first, has_more } = linesOnPage(file.text ?? '', page, lines_per_page);
  const rows = lines.map((line, index) => {
    const number = first + index;
    const coloured = colours?.[number - 1];
    return html`<tr id="${`L${number}`}"><td class="line"><a href="${`#L${number}`}">${number}</a><td>${coloured === undefined ? lineText(line) : sanitised(coloured)}${marks?.at(number)}\n`;
  });
  return html`<section class="scroll" tabindex="0" aria-label="Lines"><table class="code">
<caption class="visually-hidden">${file.name} by line</caption>
${rows}</table></section>
${pager({ items: [], page, per_page: lines_per_page, has_more }, seen)}`;
}

function contentView(blob: Blob, raw: string, marks: ErrorMarks | undefined, seen: Seen): Content {
  const { file, rendered } = blob;
  if (file.type.startsWith('image/')) return html`<p><img src="${raw}" alt="${file.name}"></p>`;
  if (file.text === undefined)
    return html`<p>This file is not a text. <a href="${raw}" rel="nofollow" download>Download ${file.name}</a></p>`;
  if (file.size_bytes === 0) return html`<p class="soft">The file is empty.</p>`;
  return html`${file.is_cut && html`<p class="notice">The file is large: this is its first megabyte. <a href="${raw}" rel="nofollow">The whole file</a></p>`}
${rendered ?? linesView(blob, marks, seen)}`;
}

/** A commit in one line, as the head of what it changed. */
export const commitHead = (id: string, commit: HeadCommit, rest: Content): Html =>
  html`<header>${face({ name: commit.author_name })}<span class="grow">${commit.author_name} <a class="title" href="${commitKind.page(id, commit.id)}" rel="nofollow">${commit.title || 'No message'}</a></span><code>${commit.short_id}</code> ${time(commit.committed_date)} ${rest}</header>
`;

/** What can be done with a file besides editing it. */
function otherActions({ id, ref, path, commit }: RefPath, { caller }: Seen): Html {
  const permalink = blobPage(id, commit.id, path);
  return menu(
    html`${icon('dots')}<span class="visually-hidden">More</span>`,
    html`<ul><li><a href="${rawPage(id, ref, path)}" rel="nofollow" download>${icon('download')}Download</a></li>
<li><a href="${permalink}" rel="nofollow" data-key="y">${icon('link')}Permalink</a></li>
<li>${copyButton(permalink, 'Copy permalink', { is_shown: true })}</li>
${
  caller &&
  html`<li><a href="${uploadPage(id, joined(ref, folderOf(path)))}">${icon('upload')}Replace by an upload</a></li>
<li><a href="${deletionPage(id, ref, path)}">${icon('trash')}Delete</a></li>`
}</ul>`,
  );
}

/**
 * The page of a file: the tree beside it, its commit and its facts above the content.
 * @param word of the address, which the switch between refs keeps
 */
export function fileFrame(
  shown: FilePlace,
  word: 'blob' | 'blame',
  seen: Seen,
  { views, main, facts }: { views: Content; main: Content; facts?: Content },
): Html {
  const { place, file, last, refs, levels } = shown;
  const { id, ref, path } = place;
  const history = html`<a class="button" href="${commitsPage(id, joined(ref, path))}" rel="nofollow">${icon('clock')}History</a>`;
  const lines = file.text !== undefined && !file.is_cut && `${counted(countOf(file.text), 'line')} · `;
  return html`<div class="beside">${treeBeside(place, levels)}<div>
<div class="bar">${refSwitch(place, word, refs, seen)}${pathLinks(place, id.slice(id.lastIndexOf('/') + 1))}${copyButton(path, 'Copy path')}<span class="grow"></span>${
    seen.caller && html`<a class="button primary" href="${editPage(id, ref, path)}">${icon('pencil')}Edit</a>`
  }${otherActions(place, seen)}</div>
<section class="file"><h2 class="visually-hidden">Content</h2>
${commitHead(id, last, history)}<header><span class="group">${views}</span><span class="soft grow">${lines}${sizeText(file.size_bytes)}</span>${facts}<a class="button" href="${rawPage(id, ref, path)}" rel="nofollow">Raw</a></header>
${main}
</section></div></div>`;
}

/** The number of lines of a text. */
function countOf(text: string): number {
  let count = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** The ways to look at a file. */
export function fileViews(
  { place: { id, ref, path }, file }: FilePlace,
  current: 'document' | 'code' | 'blame',
): Content {
  const at = blobPage(id, ref, path);
  const isDocument = isRendered(file);
  const shown = [
    ...(isDocument ? [['document', 'Document', at] as const] : []),
    ['code', 'Code', isDocument ? `${at}?plain=1` : at] as const,
    ...(file.text === undefined ? [] : [['blame', 'Blame', blamePage(id, ref, path)] as const]),
  ];
  return shown.map(
    ([name, label, address]) =>
      html`<a class="button" href="${address}" rel="nofollow" ?aria-current="${name === current && 'page'}">${label}</a>`,
  );
}

export function blobView(blob: Blob, seen: Seen): View {
  const { place, file, rendered, marker } = blob;
  const { id, ref, path } = place;
  const marks = marker?.(path, () => {
    const { lines, first } = linesOnPage(file.text ?? '', pageIn(seen), lines_per_page);
    return lines.map((text, index) => ({ number: first + index, text }));
  });
  return {
    title: [file.name, path, ref, id],
    place: { id, kind: 'project', tab: 'code' },
    main: fileFrame(blob, 'blob', seen, {
      views: fileViews(blob, rendered ? 'document' : 'code'),
      main: contentView(blob, rawPage(id, ref, path), marks, seen),
      ...(marks && { facts: marks.head }),
    }),
  };
}
