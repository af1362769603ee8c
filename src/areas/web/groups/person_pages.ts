/** The page of a user. */
import { userPage } from '../../../access/index.ts';
import { type Page as ListPage, notFound } from '../../../http/index.ts';
import {
  chip,
  facts,
  form,
  hidden,
  html,
  type PageCall,
  page,
  redirect,
  rows,
  time,
  withQuery,
} from '../../../pages/index.ts';
import { ContributionDays, type EventReply } from '../../activity/events/index.ts';
import { User } from '../../people/users/index.ts';
import { eventView } from '../activity/views.ts';
import { projectPaths } from '../house/path_queries.ts';
import { statesView } from '../issuables/views.ts';
import { heatmapView } from './heatmap_views.ts';
import { listed, tabIn, tabs, tabView } from './person_present.ts';

/** How many of the latest events are shown. */
const shownEvents = 10;

/** Leads back to the page as it was. */
const back = (_: never, call: PageCall) => withQuery(call, {});

export const personPage = page('/:username', {
  async load(call) {
    const { one, list, described, perhaps, caller, services, params } = call;
    const { items } = await list(User, 'listUsers', { username: params.username });
    const [found] = items;
    if (!found) throw notFound('User');
    const tab = tabIn(call);
    const time_zone = caller?.session.preferences.time_zone ?? 'UTC';
    const { id } = found;
    const [user, shown, { today, days }, events] = await Promise.all([
      caller && perhaps(one(User, 'getUser', { id })),
      listed(call, tab, id),
      one(ContributionDays, 'listContributionDays', { id, time_zone }),
      described('listUserEvents', { id, per_page: shownEvents }),
    ]);
    const { items: latest } = events.reply as ListPage<EventReply>;
    const paths = await projectPaths(
      services.db,
      latest.map(({ project_id }) => project_id),
    );
    const counts = new Map(days.map(({ day, count }) => [day, count]));
    return { user: user ?? found, tab, shown, counts, latest, paths, today };
  },
  forms: { follow: { runs: 'followUser', next: back }, unfollow: { runs: 'unfollowUser', next: back } },
  view: ({ user, tab, shown, counts, latest, paths, today }, seen) => ({
    title: [user.name],
    feed: `/users/${user.username}/activity.atom`,
    heading: html`${user.name} <span class="soft">@${user.username}</span>`,
    main: html`${user.state !== 'active' && html`<p>${chip(user.state)}</p>`}
${
  seen.caller &&
  (seen.caller.id === user.id
    ? html`<p class="actions"><a class="button" href="/-/user_settings/profile">Edit profile</a><a class="button" href="/dashboard/snippets">Your snippets</a></p>`
    : form(seen, user.is_followed ? 'unfollow' : 'follow', {
        fields: [hidden('id', user.id)],
        button: user.is_followed ? 'Unfollow' : 'Follow',
        look: 'plain',
        action: withQuery(seen, {}),
      }))
}
${user.bio && html`<p>${user.bio}</p>`}
${facts([
  ['Job', user.job_title],
  ['Organization', user.organization],
  ['Location', user.location],
  ['Pronouns', user.pronouns],
  ['Email', user.public_email],
  ['Website', user.website_url && html`<a href="${user.website_url}" rel="nofollow noopener">${user.website_url}</a>`],
  ['Since', time(user.created_at)],
  ['Followers', user.followers],
])}
${
  tab === 'projects' &&
  html`<h2>Activity</h2>
${heatmapView(counts, today)}
${rows(
  latest.map((event) => eventView(paths.get(event.project_id) ?? '', event, 'author')),
  'Nothing that you may see.',
)}`
}
${seen.caller ? statesView(seen, tab, tabs, 'tab') : html`<h2>Projects</h2>`}
${tabView(tab, shown, seen)}`,
  }),
});

export const personRedirect = redirect('/users/:username', ({ params }) => userPage(params.username!));
