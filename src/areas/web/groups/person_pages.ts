/** The page of a user. */
import { userPage } from '../../../access/index.ts';
import { type Page as ListPage, notFound } from '../../../http/index.ts';
import { chip, facts, html, page, pagingOf, redirect, rows, time } from '../../../pages/index.ts';
import { ContributionDays, type EventReply } from '../../activity/events/index.ts';
import { User } from '../../people/users/index.ts';
import { ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import { eventView } from '../activity/views.ts';
import { projectPaths } from '../house/path_queries.ts';
import { heatmapView } from './heatmap_views.ts';
import { projectRows } from './views.ts';

/** How many of the latest events are shown. */
const shownEvents = 10;

export const personPage = page('/:username', {
  async load({ one, list, described, perhaps, caller, services: { db }, params: { username }, query }) {
    const { items } = await list(User, 'listUsers', { username });
    const [listed] = items;
    if (!listed) throw notFound('User');
    const time_zone = caller?.session.preferences.time_zone ?? 'UTC';
    const { id } = listed;
    const [user, projects, { today, days }, events] = await Promise.all([
      caller && perhaps(one(User, 'getUser', { id })),
      list(ProjectWithAccessForm, 'listUserProjects', { user_id: id, ...pagingOf({ query }) }),
      one(ContributionDays, 'listContributionDays', { id, time_zone }),
      described('listUserEvents', { id, per_page: shownEvents }),
    ]);
    const { items: latest } = events.reply as ListPage<EventReply>;
    const paths = await projectPaths(
      db,
      latest.map(({ project_id }) => project_id),
    );
    const counts = new Map(days.map(({ day, count }) => [day, count]));
    return { user: user ?? listed, projects, counts, latest, paths, today };
  },
  view: ({ user, projects, counts, latest, paths, today }, seen) => ({
    title: [user.name],
    feed: `/users/${user.username}/activity.atom`,
    heading: html`${user.name} <span class="soft">@${user.username}</span>`,
    main: html`${user.state !== 'active' && html`<p>${chip(user.state)}</p>`}
${user.bio && html`<p>${user.bio}</p>`}
${facts([
  ['Job', user.job_title],
  ['Organization', user.organization],
  ['Location', user.location],
  ['Pronouns', user.pronouns],
  ['Email', user.public_email],
  ['Website', user.website_url && html`<a href="${user.website_url}" rel="nofollow noopener">${user.website_url}</a>`],
  ['Since', time(user.created_at)],
])}
<h2>Activity</h2>
${heatmapView(counts, today)}
${rows(
  latest.map((event) => eventView(paths.get(event.project_id) ?? '', event, 'author')),
  'Nothing that you may see.',
)}
<h2>Projects</h2>
${projectRows(projects, seen, 'There are no projects of their own that you may see.')}`,
  }),
});

export const personRedirect = redirect('/users/:username', ({ params }) => userPage(params.username!));
