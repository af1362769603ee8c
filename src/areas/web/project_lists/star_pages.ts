/** The people who starred a project. */
import { html, page, pager, pagingOf, person, rows, time } from '../../../pages/index.ts';
import { Starrer } from '../../spaces/projects/index.ts';

export const starrerPages = page('/:id/-/starrers', {
  load: async (call) => ({
    id: call.params.id!,
    starrers: await call.list(Starrer, 'listProjectStarrers', { per_page: 40, ...pagingOf(call) }),
  }),
  view: ({ id, starrers }, seen) => ({
    title: ['Stars', id],
    place: { id, kind: 'project', tab: 'code' },
    main: html`${rows(
      starrers.items.map(
        ({ user, starred_since }) => html`${person(user)} <span class="soft">${time(starred_since)}</span>`,
      ),
      'Nobody whose profile you may see has starred this project.',
    )}
${pager(starrers, seen)}`,
  }),
});
