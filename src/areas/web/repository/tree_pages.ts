/** Folders of a repository. */
import { type Content, type Html, html, page, type Seen } from '../../../pages/index.ts';
import { commitHead } from './blob_views.ts';
import { refPathOf } from './ref_queries.ts';
import { refSwitch } from './ref_views.ts';
import { folderToShow, type ShownFolder } from './tree_queries.ts';
import { addMenu, findFile, folderMenu, folderView, pathLinks } from './tree_views.ts';

/**
 * A folder with its entries, below what can be done with it.
 * @param rest a menu of the page
 */
export function folderPage(folder: ShownFolder, seen: Seen, rest: Content = undefined): Html {
  const { place, refs } = folder;
  const { id, ref, commit } = place;
  return html`<div class="bar">${refSwitch(place, 'tree', refs, seen)}${place.path !== '' && pathLinks(place, id.slice(id.lastIndexOf('/') + 1))}<span class="grow"></span>${findFile(id, ref)}${addMenu(place, seen)}${rest}${folderMenu(place)}</div>
${folderView(folder, seen, commitHead(id, commit, undefined))}`;
}

export const treePages = page('/:id/-/tree/*ref_path', {
  is_costly: true,
  load: async (call) => folderToShow(call, await refPathOf(call)),
  view: (folder, seen) => {
    const { id, ref, path } = folder.place;
    return {
      title: [path || ref, path && ref, id].filter(Boolean),
      place: { id, kind: 'project', tab: 'code' },
      main: folderPage(folder, seen),
    };
  },
});
