/** Finding a file by its path, anywhere in a ref, and the same path in another ref. */
import type { Static } from 'typebox';
import { pageBelow } from '../../../access/index.ts';
import { notFound } from '../../../http/index.ts';
import { html, icon, type PageCall, page, redirect, rows, type Seen, textIn, type View } from '../../../pages/index.ts';
import { blobPage, FoundPaths, TreeObject, treePage } from '../../code/repository/index.ts';
import { findFilePage, joined } from './address_rules.ts';
import { type RefPath, refNames, refPathOf } from './ref_queries.ts';
import { type RefWord, refSwitch, type ShownRefs } from './ref_views.ts';
import { folderOf } from './tree_views.ts';

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

/** Whether there is a file, or a folder, at a path. */
async function entryAt({ perhaps, bytes, list }: PageCall, { commit }: RefPath, path: string) {
  const ref = commit.id;
  if (path === '') return 'folder';
  if (await perhaps(bytes('getRawFileMetadata', { ref, file_path: path }))) return 'file';
  return (await perhaps(list(TreeObject, 'listRepositoryTree', { ref, path, per_page: 1 }))) ? 'folder' : undefined;
}

/** Which pages show a file, a folder or both. */
const shownOf: Readonly<Record<RefWord, readonly ('file' | 'folder')[]>> = {
  tree: ['folder'],
  blob: ['file'],
  blame: ['file'],
  commits: ['file', 'folder'],
  find_file: ['folder'],
  network: ['folder'],
  graphs: ['folder'],
};

/** The page that one comes from, in another ref; if that has no such path, the nearest folder that it has. */
export const switchPages = redirect('/:id/-/switch/:word/*ref_path', async (call) => {
  const word = call.params.word as RefWord;
  if (!Object.hasOwn(shownOf, word)) throw notFound('Page');
  const place = await refPathOf(call);
  const { id, ref, path } = place;
  for (let at = path; ; at = folderOf(at)) {
    const found = await entryAt(call, place, at);
    if (found && at === path && shownOf[word].includes(found))
      return pageBelow.project(id, `${word}/${joined(ref, path)}`);
    if (found === 'file') return blobPage(id, ref, at);
    if (found === 'folder') return treePage(id, joined(ref, at));
  }
});
