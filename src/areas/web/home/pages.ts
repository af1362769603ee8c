/** The first page: the projects of the caller, or those that everyone may see. */
import { filterForm, html, page, pagingOf } from '../../../pages/index.ts';
import { ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import { projectRows } from '../groups/views.ts';

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
${projectRows(projects, seen, 'There are no projects here yet.')}`,
    ...(seen.caller ? {} : { is_public: true as const }),
  }),
});
