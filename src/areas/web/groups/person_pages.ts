/** The page of a user. */
import { userPage } from '../../../access/index.ts';
import { notFound } from '../../../http/index.ts';
import { chip, facts, html, page, pagingOf, redirect, time } from '../../../pages/index.ts';
import { User } from '../../people/users/index.ts';
import { ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import { projectRows } from './views.ts';

export const personPage = page('/:username', {
  async load({ one, list, perhaps, caller, params: { username }, query }) {
    const { items } = await list(User, 'listUsers', { username });
    const [listed] = items;
    if (!listed) throw notFound('User');
    const [user, projects] = await Promise.all([
      caller && perhaps(one(User, 'getUser', { id: listed.id })),
      list(ProjectWithAccessForm, 'listUserProjects', { user_id: listed.id, ...pagingOf({ query }) }),
    ]);
    return { user: user ?? listed, projects };
  },
  view: ({ user, projects }, seen) => ({
    title: [user.name],
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
<h2>Projects</h2>
${projectRows(projects, seen, 'There are no projects of their own that you may see.')}`,
  }),
});

export const personRedirect = redirect('/users/:username', ({ params }) => userPage(params.username!));
