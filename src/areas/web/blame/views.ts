/** The view of a blame. */
import type { Static } from 'typebox';
import { commitKind } from '../../../access/index.ts';
import {
  type Content,
  face,
  type Html,
  html,
  icon,
  pager,
  type Seen,
  sanitised,
  time,
  type View,
} from '../../../pages/index.ts';
import type { BlameRange } from '../../code/repository_files/index.ts';
import { blameBeforePage } from '../repository/address_rules.ts';
import { type Blob, type FilePlace, fileFrame, fileViews, lineText } from '../repository/blob_views.ts';
import { ageStep } from './rules.ts';

export interface Blame extends FilePlace {
  /** Why there is none, or the lines of the page in groups, each with the commit that last changed them. */
  groups: readonly Static<typeof BlameRange>[] | 'no text' | 'too large';
  colours: Blob['colours'];
  page: number;
  /** The number of the first line of the page. */
  first: number;
  has_more: boolean;
}

export const lines_per_page = 1_000;

/** Who changed the lines of a group, when and why, and the way to what they were before. */
function whoView({ id, path }: FilePlace['place'], { commit }: Static<typeof BlameRange>): Html {
  const title = commit.message.split('\n', 1)[0] || 'No message';
  return html`<div>${face({ name: commit.author_name })}<a href="${commitKind.page(id, commit.id)}" rel="nofollow" title="${commit.author_name}">${title}</a>${time(commit.committed_date)}${
    commit.parent_ids.length > 0 &&
    html`<a class="quiet" href="${blameBeforePage(id, commit.id, path)}" rel="nofollow" aria-label="${`Blame before ${commit.id.slice(0, 8)}`}">${icon('rewind')}</a>`
  }</div>`;
}

/** End tags are omitted, as HTML allows. */
function linesView({ place, file, groups, colours, first }: Blame & { groups: readonly Static<typeof BlameRange>[] }) {
  const now = Date.now();
  const times = groups.map(({ commit }) => Date.parse(commit.committed_date));
  const oldest = Math.min(...times);
  let number = first - 1;
  const rows = groups.map((group, index) => {
    const count = group.lines.length;
    const step = ageStep(times[index]!, oldest, now);
    return group.lines.map((line, at) => {
      number += 1;
      const coloured = colours?.[number - 1];
      const head: Content =
        at === 0 &&
        html`<td class="who" rowspan="${count}">${whoView(place, group)}<td class="${`age age${step}`}" rowspan="${count}">`;
      return html`<tr id="${`L${number}`}" ?class="${at === 0 && 'first'}">${head}<td class="line"><a href="${`#L${number}`}">${number}</a><td>${coloured === undefined ? lineText(line) : sanitised(coloured)}\n`;
    });
  });
  return html`<section class="scroll" tabindex="0" aria-label="Lines"><table class="code blame">
<caption class="visually-hidden">${file.name} by line, with the commit that last changed each</caption>
${rows}</table></section>`;
}

function contentView(blame: Blame, seen: Seen): Content {
  const { groups, page, has_more } = blame;
  if (groups === 'no text') return html`<p>This file is not a text.</p>`;
  if (groups === 'too large')
    return html`<p>This file is too large for a blame on a page. <code>git blame</code> shows it.</p>`;
  if (groups.length === 0) return html`<p class="soft">The file is empty.</p>`;
  return html`${linesView({ ...blame, groups })}
${pager({ items: [], page, per_page: lines_per_page, has_more }, seen)}`;
}

export function blameView(blame: Blame, seen: Seen): View {
  const { id, ref, path } = blame.place;
  return {
    title: [`Blame of ${blame.file.name}`, path, ref, id],
    heading: blame.file.name,
    place: { id, kind: 'project', tab: 'code' },
    main: fileFrame(blame, 'blame', seen, { views: fileViews(blame, 'blame'), main: contentView(blame, seen) }),
  };
}
