/** The first page: the projects of the caller, or those that everyone may see. */
import { filterForm, html, page, pager, pagingOf, rows, time } from '../../../pages/index.ts';
import { ProjectWithAccessForm } from '../../spaces/projects/index.ts';

export const homePage = page('/', {
  load: ({ list, caller, query }) =>
    list(ProjectWithAccessForm, 'listProjects', {
      ...pagingOf({ query }),
      order_by: 'last_activity_at',
      ...(caller && query.all === undefined && { membership: true }),
      ...(typeof query.search === 'string' && query.search !== '' && { search: query.search }),
    }),
  view: (projects, seen) => ({
    title: [seen.caller && seen.query.all === undefined ? 'Your projects' : 'Projects'],
    main: html`${filterForm(seen, [{ name: 'search', label: 'Search projects' }], 'Search')}
${
  seen.caller &&
  html`<p class="actions"><a class="button primary" href="/projects/new">New project</a> <a class="button" href="/?all=1">All projects</a></p>`
}
${rows(
  projects.items.map(
    (project) =>
      html`<a class="title" href="${`/${project.path_with_namespace}`}">${project.name_with_namespace}</a>
<span class="label">${project.visibility}</span>
<div class="soft">${project.description} Last activity ${time(project.last_activity_at)}</div>`,
  ),
  'There are no projects here yet.',
)}
${pager(projects, seen)}`,
    ...(seen.caller ? {} : { is_public: true as const }),
  }),
});
