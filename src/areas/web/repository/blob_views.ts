/** Views of files. */

import {
  type Content,
  type Html,
  html,
  pager,
  type Seen,
  sanitised,
  type View,
  withQuery,
} from '../../../pages/index.ts';
import { counted, sizeText } from '../../../texts/index.ts';
import { blobPage } from '../../code/repository/index.ts';
import { commitsPage, deletionPage, editPage, joined, rawPage } from './address_rules.ts';
import type { ShownFile } from './file_queries.ts';
import { lineEnd_chars, linesOnPage } from './line_rules.ts';
import { isRendered } from './markdown_present.ts';
import type { RefPath } from './ref_queries.ts';
import { lastCommit, pathLinks } from './tree_views.ts';

export interface Blob {
  place: RefPath;
  file: ShownFile;
  /** The rendered Markdown, unless its source is requested. */
  rendered: Html | undefined;
  /** The highlighted lines as HTML, if the language is known. */
  colours: readonly string[] | undefined;
}

const lines_per_page = 10_000;

const lineText = (line: string): Content =>
  line.length <= lineEnd_chars
    ? line
    : html`${line.slice(0, lineEnd_chars)}<span class="soft"> … ${counted(line.length - lineEnd_chars, 'more character')}</span>`;

/** The number of the requested page of lines. */
const pageIn = ({ query }: Seen): number =>
  typeof query.page === 'string' && /^[1-9]\d{0,5}$/.test(query.page) ? Number(query.page) : 1;

/** Each line has an anchor, `#L12`, to which its number links. End tags are omitted, as HTML allows. */
function linesView({ file, colours }: Blob, seen: Seen): Html {
  const page = pageIn(seen);
  const { lines, first, has_more } = linesOnPage(file.text ?? '', page, lines_per_page);
  const rows = lines.map((line, index) => {
    const number = first + index;
    const coloured = colours?.[number - 1];
    return html`<tr id="${`L${number}`}"><td class="line"><a href="${`#L${number}`}">${number}</a><td>${coloured === undefined ? lineText(line) : sanitised(coloured)}\n`;
  });
  return html`<section class="scroll" tabindex="0" aria-label="Lines"><table class="code">
<caption class="visually-hidden">${file.name} by line</caption>
${rows}</table></section>
${pager({ items: [], page, per_page: lines_per_page, has_more }, seen)}`;
}

function contentView(blob: Blob, raw: string, seen: Seen): Content {
  const { file, rendered } = blob;
  if (file.type.startsWith('image/')) return html`<p><img src="${raw}" alt="${file.name}"></p>`;
  if (file.text === undefined)
    return html`<p>This file is not a text. <a href="${raw}" rel="nofollow" download>Download ${file.name}</a></p>`;
  if (file.size_bytes === 0) return html`<p class="soft">The file is empty.</p>`;
  return html`${file.is_cut && html`<p class="notice">The file is large: this is its first megabyte. <a href="${raw}" rel="nofollow">The whole file</a></p>`}
${rendered ?? linesView(blob, seen)}`;
}

export function blobView(blob: Blob, seen: Seen): View {
  const { place, file, rendered } = blob;
  const { id, ref, path, commit } = place;
  const raw = rawPage(id, ref, path);
  return {
    title: [file.name, path, ref, id],
    place: { id, kind: 'project', tab: 'code' },
    main: html`${pathLinks(place)}
<p class="actions"><span class="soft">${sizeText(file.size_bytes)}</span>
<a href="${raw}" rel="nofollow">Raw</a> <a href="${commitsPage(id, joined(ref, path))}">History</a>
<a href="${blobPage(id, commit.id, path)}" rel="nofollow">Permalink</a>
${seen.caller && html`<a href="${editPage(id, ref, path)}">Edit</a> <a href="${deletionPage(id, ref, path)}">Delete</a>`}
${isRendered(file) && (rendered ? html`<a href="${withQuery(seen, { plain: 1 })}">Source</a>` : html`<a href="${withQuery(seen, { plain: undefined })}">As a document</a>`)}</p>
${lastCommit(place)}
<section class="file"><h2 class="visually-hidden">Content</h2>
${contentView(blob, raw, seen)}
</section>`,
  };
}
