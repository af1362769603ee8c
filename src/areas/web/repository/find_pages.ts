/** Finding a file by its path, anywhere in a ref. */
import type { Static } from 'typebox';
import { notFound } from '../../../http/index.ts';
import { html, icon, page, rows, type Seen, textIn, type View } from '../../../pages/index.ts';
import { blobPage, FoundPaths } from '../../code/repository/index.ts';
import { findFilePage } from './address_rules.ts';
import { type RefPath, refNames, refPathOf } from './ref_queries.ts';
import { refSwitch, type ShownRefs } from './ref_views.ts';

interface Finding {
  place: RefPath;
  refs: ShownRefs;
  found: Static<typeof FoundPaths>;
}

function view({ place, refs, found }: Finding, seen: Seen): View {
  const { id, ref } = place;
  const { paths, has_more } = found;
  return {
    title: ['Find a file', ref, id],
    place: { id, kind: 'project', tab: 'code' },
    main: html`<div class="bar">${refSwitch(place, 'find_file', refs, seen)}<form method="get" class="seek grow" action="${findFilePage(id, ref)}"><button class="quiet" aria-label="Find">${icon('search')}</button><input type="search" name="search" value="${textIn(seen.query, 'search') ?? ''}" aria-label="Parts of the path" placeholder="Parts of the path" autocomplete="off" data-live="found" data-key="t"></form></div>
<div id="found">${rows(
      paths.map((path) => html`${icon('file')} <a href="${blobPage(id, ref, path)}" rel="nofollow">${path}</a>`),
      'No file has such a path.',
    )}${has_more && html`<p class="soft">The first ${paths.length} are shown.</p>`}</div>`,
  };
}

export const findFilePages = page('/:id/-/find_file/*ref_path', {
  is_costly: true,
  async load(call): Promise<Finding> {
    const place = await refPathOf(call);
    if (place.path !== '') throw notFound('Page');
    const search = textIn(call.query, 'search') ?? '';
    const [refs, found] = await Promise.all([
      refNames(call),
      call.one(FoundPaths, 'findPaths', { ref: place.commit.id, search }),
    ]);
    return { place, refs, found };
  },
  view,
});
