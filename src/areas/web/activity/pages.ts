/** What happened in a project. */
import { pageBelow } from '../../../access/index.ts';
import type { Page as ListPage } from '../../../http/index.ts';
import { html, page, pager, pagingOf, rows } from '../../../pages/index.ts';
import type { EventReply } from '../../activity/events/index.ts';
import { eventView } from './views.ts';

export const activityPage = page('/:id/-/activity', {
  load: async (call) => {
    const { reply } = await call.described('listProjectEvents', { per_page: 40, ...pagingOf(call) });
    return { id: call.params.id!, events: reply as ListPage<EventReply> };
  },
  view: ({ id, events }, seen) => ({
    title: ['Activity', id],
    feed: pageBelow.project(id, 'activity.atom'),
    place: { id, kind: 'project', tab: 'activity' },
    main: html`${rows(
      events.items.map((event) => eventView(id, event, 'project')),
      'Nothing has happened here that you may see.',
    )}
${pager(events, seen)}`,
  }),
});
