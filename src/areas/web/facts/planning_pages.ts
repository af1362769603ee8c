/** Epics, iterations and milestones. */
import { found, notFound, type Values } from '../../../http/index.ts';
import { type Content, html, type PageCall, person, redirect, state as shownState } from '../../../pages/index.ts';
import { Iteration, iterationsById, presentIteration } from '../../planning/iterations/index.ts';
import { Milestone } from '../../planning/milestones/index.ts';
import { factPage } from './definition.ts';

/** The title line of an issue, a merge request or an epic. */
const titleLine = ({ title, web_url, state, author }: Values): Content =>
  html`<a href="${new URL(String(web_url)).pathname}">${String(title)}</a> ${shownState(String(state))}
<div class="soft">By ${person(author as { username: string; name: string } | null)}</div>`;

/** The page of a milestone; its address contains the number in the group or project. */
const milestonePage = (noun: 'Project' | 'Group') =>
  factPage(noun === 'Group' ? '/groups/:id/-/milestones/:milestone_iid' : '/:id/-/milestones/:milestone_iid', {
    async read({ list, described, params }) {
      const { items } = await list(Milestone, `list${noun}Milestones`, { iids: [params.milestone_iid] });
      return described(`get${noun}Milestone`, { milestone_id: found('Milestone', items[0]).id });
    },
    title: ({ title }) => String(title),
    lists: [
      { heading: 'Issues', operation: `list${noun}MilestoneIssues`, parameters: milestoneOf, line: titleLine },
      {
        heading: 'Merge requests',
        operation: `list${noun}MilestoneMergeRequests`,
        parameters: milestoneOf,
        line: titleLine,
      },
    ],
  });

const milestoneOf = ({ id }: Values): Values => ({ milestone_id: id });

/** The iteration in an address. Everyone who may list the iterations of the group may see it. */
async function readIteration({ services: { db, url }, list, params }: PageCall) {
  await list(Iteration, 'listGroupIterations', { per_page: 1 });
  const id = /^\d{1,15}$/.test(params.iteration_id!) ? Number(params.iteration_id) : 0;
  const row = (await iterationsById(db, [id])).get(id);
  if (row?.full_path.toLowerCase() !== params.id!.toLowerCase()) throw notFound('Iteration');
  return { schema: Iteration, reply: presentIteration(url, row) };
}

export const planningFactPages = [
  factPage('/groups/:id/-/epics/:epic_iid', {
    tab: 'epics',
    read: ({ described }) => described('getEpic'),
    title: ({ title }) => String(title),
    lists: [
      { heading: 'Child epics', operation: 'listChildEpics', line: titleLine },
      { heading: 'Issues', operation: 'listEpicIssues', line: titleLine },
    ],
    discussions: { operation: 'showEpicDiscussions', parameters: ({ id }) => ({ epic_id: id }) },
  }),
  redirect('/groups/:id/-/epics/:epic_iid/edit', ({ path }) => path.replace(/\/edit$/, '')),
  factPage('/groups/:id/-/epics', {
    tab: 'epics',
    title: () => 'Epics',
    lists: [{ heading: 'All epics', operation: 'listEpics', line: titleLine }],
  }),
  factPage('/groups/:id/-/iterations/:iteration_id', {
    read: readIteration,
    title: ({ title, start_date, due_date }) => String(title ?? `${start_date} to ${due_date}`),
    lists: [
      {
        heading: 'Issues',
        operation: 'listGroupIssues',
        parameters: ({ id }) => ({ iteration_id: id, scope: 'all' }),
        line: titleLine,
      },
    ],
  }),
  milestonePage('Project'),
  milestonePage('Group'),
];
