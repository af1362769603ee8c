/** The switch between branches and tags, which keeps the path. */
import type { Static } from 'typebox';
import { type Content, type Html, html, icon, type Seen, textIn } from '../../../pages/index.ts';
import type { RefNames } from '../../code/repository/index.ts';
import { branchesPage, joined, switchPage, tagsPage } from './address_rules.ts';
import type { RefPath } from './ref_queries.ts';

export type ShownRefs = Static<typeof RefNames>;

/** A word of addresses that is followed by a ref and a path. */
export type RefWord = 'tree' | 'blob' | 'blame' | 'commits' | 'find_file' | 'network' | 'graphs';

/** Pages that show a ref as a whole, and thus keep no path. */
const withoutPath: ReadonlySet<RefWord> = new Set(['find_file', 'network', 'graphs']);

type Place = Pick<RefPath, 'id' | 'ref' | 'path'>;

function listOf({ id, ref, path }: Place, word: RefWord, title: string, { names, has_more }: ShownRefs['branches']) {
  const kept = withoutPath.has(word) ? '' : path;
  return (
    names.length > 0 &&
    html`<strong>${title}</strong><ul>${names.map(
      (name) =>
        html`<li><a href="${switchPage(id, word, joined(name, kept))}" rel="nofollow" ?aria-current="${name === ref && 'true'}">${name}</a></li>`,
    )}</ul>${has_more && html`<p class="soft">Search for others.</p>`}`
  );
}

/** A menu of the branches and tags, with a search: `?refs=`. */
export function refSwitch(place: Place, word: RefWord, refs: ShownRefs, { path, query }: Seen): Html {
  const search = textIn(query, 'refs');
  const lists: Content = [listOf(place, word, 'Branches', refs.branches), listOf(place, word, 'Tags', refs.tags)];
  const isEmpty = refs.branches.names.length + refs.tags.names.length === 0;
  return html`<details class="menu" name="menu" ?open="${search !== undefined}"><summary class="button">${icon('branch')}<span class="ref">${place.ref}</span>${icon('down')}</summary>
<div class="pop left"><form method="get" action="${path}"><input type="search" name="refs" value="${search ?? ''}" aria-label="Search branches and tags" placeholder="Search…" autocomplete="off" data-live="refs"> <button>Search</button></form>
<div id="refs">${isEmpty ? html`<p class="soft">No branch or tag has this name.</p>` : lists}</div>
<p><a href="${branchesPage(place.id)}">All ${refs.branches.total} branches</a> · <a href="${tagsPage(place.id)}">${refs.tags.total} tags</a></p></div></details>`;
}
