/** The first page: what waits for the reader, or the projects that everyone may see. */
import type { Static } from 'typebox';
import {
  type Content,
  filterForm,
  type Html,
  html,
  type PageCall,
  page,
  pagingOf,
  person,
  redirect,
  rows,
  type Seen,
  textIn,
  time,
  type View,
} from '../../../pages/index.ts';
import type { TodoForm } from '../../activity/todos/index.ts';
import { ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import { Issue } from '../../work/issues/index.ts';
import { MergeRequestInList } from '../../work/merge_requests/index.ts';
import { projectRows } from '../groups/views.ts';
import { pathOf } from '../issuables/present.ts';
import { labelsView } from '../issuables/views.ts';
import { todoRow } from '../todos/pages.ts';

/** How many of each kind are shown; the lists behind them have the rest. */
const shown = 8;

type MergeRequests = readonly Static<typeof MergeRequestInList>[];

async function loadDashboard({ list, caller }: PageCall, todo: TodoForm) {
  const mine = { state: 'opened', per_page: shown, order_by: 'updated_at', with_labels_details: true };
  const [todos, reviews, changes, issues, projects] = await Promise.all([
    list(todo, 'listTodos', { per_page: shown }),
    list(MergeRequestInList, 'listMergeRequests', { ...mine, scope: 'all', reviewer_username: caller!.username }),
    list(MergeRequestInList, 'listMergeRequests', { ...mine, scope: 'created_by_me' }),
    list(Issue, 'listIssues', { ...mine, scope: 'assigned_to_me' }),
    list(ProjectWithAccessForm, 'listProjects', { membership: true, order_by: 'last_activity_at', per_page: 10 }),
  ]);
  return { todos, reviews, changes, issues, projects };
}
type Dashboard = Awaited<ReturnType<typeof loadDashboard>>;

const mergeRequestRow = (each: MergeRequests[number]): Html =>
  html`<a class="title" href="${pathOf(each.web_url)}">${each.title}</a> ${labelsView(each.labels ?? [], pathOf(each.web_url))}
<div class="soft">${each.references?.full} by ${person(each.author)}, changed ${time(each.updated_at)}</div>`;

const issueRow = (each: Dashboard['issues']['items'][number]): Html =>
  html`<a class="title" href="${pathOf(each.web_url)}">${each.title}</a> ${labelsView(each.labels, pathOf(each.web_url))}
<div class="soft">${each.references.full}${each.due_date && html`, due ${each.due_date}`}, changed ${time(each.updated_at)}</div>`;

/** A list with a link to all of it. */
const part = (title: string, address: string, items: readonly Content[], has_more: boolean, empty: string): Html =>
  html`<h2><a href="${address}">${title}</a></h2>${rows(items, empty)}${has_more && html`<p><a href="${address}">All of them<span class="visually-hidden">: ${title}</span></a></p>`}`;

function dashboardView({ todos, reviews, changes, issues, projects }: Dashboard, { caller }: Seen): View {
  const reviewing = `/dashboard/merge_requests?${new URLSearchParams({ scope: 'all', reviewer_username: caller!.username })}`;
  return {
    title: ['What waits for you'],
    main: html`<div class="columns"><div>
${part('Reviews asked of you', reviewing, reviews.items.map(mergeRequestRow), reviews.has_more, 'Nobody waits for your review.')}
${part('To-do list', '/dashboard/todos', todos.items.map(todoRow), todos.has_more, 'There is nothing to do.')}
${part('Your merge requests', '/dashboard/merge_requests?scope=created_by_me', changes.items.map(mergeRequestRow), changes.has_more, 'You have no open merge requests.')}
${part('Issues assigned to you', '/dashboard/issues', issues.items.map(issueRow), issues.has_more, 'No open issue is assigned to you.')}
</div>
<section aria-labelledby="projects"><h2 id="projects">Projects</h2>
<p class="actions"><a class="button" href="/projects/new">New project</a> <a class="button" href="/explore">All projects</a></p>
${rows(
  projects.items.map(
    (project) =>
      html`<a href="${`/${project.path_with_namespace}`}">${project.name_with_namespace}</a><div class="soft">${time(project.last_activity_at)}</div>`,
  ),
  'You are in no project yet. Create one, or ask to be invited.',
)}${projects.has_more && html`<p><a href="/explore?membership=true">All your projects</a></p>`}</section></div>`,
  };
}

const loadProjects = ({ list, query }: Pick<PageCall, 'list' | 'query'>) => {
  const search = textIn(query, 'search');
  return list(ProjectWithAccessForm, 'listProjects', {
    ...pagingOf({ query }),
    order_by: 'last_activity_at',
    ...(query.membership === undefined ? {} : { membership: query.membership }),
    ...(search && { search }),
  });
};

const projectsView = (projects: Awaited<ReturnType<typeof loadProjects>>, seen: Seen): View => ({
  title: ['Projects'],
  main: html`${filterForm(seen, [{ name: 'search', label: 'Search projects' }], 'Search')}
${seen.caller && html`<p class="actions"><a class="button primary" href="/projects/new">New project</a></p>`}
${projectRows(projects, seen, 'There are no projects here yet.')}`,
  is_public: true,
});

/** @param todo the schema of an item of the to-do list, which depends on the kinds of items */
export const homePages = (todo: TodoForm) => [
  page('/', {
    load: async (call) => (call.caller ? loadDashboard(call, todo) : loadProjects(call)),
    view: (found, seen) => ('todos' in found ? dashboardView(found, seen) : projectsView(found, seen)),
  }),
  page('/explore', { load: loadProjects, view: projectsView }),
  redirect('/dashboard', () => '/'),
];
