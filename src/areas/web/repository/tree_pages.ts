/** Folders of a repository. */
import { html, page } from '../../../pages/index.ts';
import { refPathOf } from './ref_queries.ts';
import { folderToShow } from './tree_queries.ts';
import { folderView, lastCommit, pathLinks, refActions } from './tree_views.ts';

export const treePages = page('/:id/-/tree/*ref_path', {
  is_costly: true,
  load: async (call) => folderToShow(call, await refPathOf(call)),
  view: (folder, seen) => ({
    title: [folder.place.path || folder.place.ref, folder.place.path && folder.place.ref, folder.place.id].filter(
      Boolean,
    ),
    place: { id: folder.place.id, kind: 'project', tab: 'code' },
    main: html`${pathLinks(folder.place)}
${refActions(folder.place, seen)}
${lastCommit(folder.place)}
${folderView(folder, seen)}`,
  }),
});
