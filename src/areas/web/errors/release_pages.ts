/** How well releases do, as their applications report sessions (docs/reference/work_pages.md#errors). */
import { pageBelow } from '../../../access/index.ts';
import { html, page, pager, pagingOf, rows, time } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { ReleaseHealth } from '../../work/error_tracking/index.ts';

export const errorReleasesPage = page('/:id/-/error_tracking/releases', {
  load: async ({ list, params, query }) => ({
    id: params.id!,
    releases: await list(ReleaseHealth, 'listErrorTrackingReleasesHealth', pagingOf({ query })),
  }),
  view: ({ id, releases }, seen) => ({
    title: ['Releases', 'Errors', id],
    place: { id, kind: 'project', tab: 'error_releases' },
    main: html`${rows(
      releases.items.map(
        ({
          release,
          environment,
          started,
          exited,
          errored,
          crashed,
          abnormal,
          users,
          crash_free_sessions,
          last_seen_at,
        }) =>
          html`<strong>${release}</strong> <span class="soft">${environment}</span> ${crash_free_sessions !== null && `${crash_free_sessions} % of the sessions without a crash`}
<div class="soft">${counted(started + exited + errored + crashed + abnormal, 'session')}, ${errored} with errors, ${crashed} crashed, ${counted(users, 'user')}, last seen ${time(last_seen_at)}. <a href="${`${pageBelow.project(id, 'error_tracking')}?release=${encodeURIComponent(release)}`}">Its errors</a></div>`,
      ),
      'No application has reported sessions with a release yet.',
    )}
${pager(releases, seen)}`,
  }),
});
