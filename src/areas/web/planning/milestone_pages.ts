/** The milestones of a project or group (docs/reference/work_pages.md#milestones). */
import type { Static } from 'typebox';
import { found } from '../../../http/index.ts';
import {
  type Field,
  form,
  type Html,
  hidden,
  html,
  type PageCall,
  page,
  pager,
  pagingOf,
  rows,
  state,
} from '../../../pages/index.ts';
import { Milestone } from '../../planning/milestones/index.ts';
import { BurndownEvent, Issue, IssueStatistics } from '../../work/issues/index.ts';
import { MergeRequestInList } from '../../work/merge_requests/index.ts';
import { pathOf, textsAsHtml } from '../issuables/present.ts';
import { statesView } from '../issuables/views.ts';
import { burndownOf } from './burndown_rules.ts';
import { addressOf, type Kind, nounOf, pathFor } from './definition.ts';
import { burndownView, datesOf, milestoneState, progressView, type ShownMilestone } from './milestone_views.ts';

const fieldsOf = (shown?: ShownMilestone): readonly Field[] => [
  { name: 'title', label: 'Title', is_required: true, maximum: 255, value: shown?.title, is_clearable: true },
  { name: 'start_date', label: 'Start', kind: 'date', value: shown?.start_date, is_clearable: 'null' },
  { name: 'due_date', label: 'Due', kind: 'date', value: shown?.due_date, is_clearable: 'null' },
  {
    name: 'description',
    label: 'Description',
    kind: 'markdown',
    value: shown?.description,
    help: 'Markdown.',
    is_clearable: true,
  },
];

const milestonesPage = (kind: Kind) => {
  const Noun = nounOf(kind);
  return page(pathFor(kind, '/milestones'), {
    load: async ({ list, params, query, may }) => {
      const shown = query.state === 'closed' ? 'closed' : 'active';
      const [milestones, mayCreate] = await Promise.all([
        list(Milestone, `list${Noun}Milestones`, { ...pagingOf({ query }), state: shown, include_ancestors: true }),
        may(`create${Noun}Milestone`),
      ]);
      return { id: params.id!, shown, milestones, mayCreate };
    },
    view: ({ id, shown, milestones, mayCreate }, seen) => ({
      title: ['Milestones', id],
      place: { id, kind, tab: 'milestones' },
      main: html`${mayCreate && html`<p class="actions"><a class="button primary" href="${addressOf(kind, id, 'milestones/new')}">New milestone</a></p>`}
${statesView(seen, shown, [
  ['active', 'Open'],
  ['closed', 'Closed'],
])}
${rows(
  milestones.items.map(
    (each) =>
      html`<a class="title" href="${pathOf(each.web_url)}">${each.title}</a> ${milestoneState(each)}<div class="soft">${datesOf(each)}${kind === 'project' && each.group_id !== undefined && ' of the group'}</div>`,
  ),
  shown === 'active' ? 'There are no open milestones.' : 'There are no closed milestones.',
)}
${pager(milestones, seen)}`,
    }),
  });
};

const newMilestonePage = (kind: Kind) =>
  page(pathFor(kind, '/milestones/new'), {
    signed_in: true,
    load: async ({ list, params }) => {
      await list(Milestone, `list${nounOf(kind)}Milestones`, { per_page: 1 });
      return params.id!;
    },
    forms: {
      create: { runs: `create${nounOf(kind)}Milestone`, next: ({ web_url }: ShownMilestone) => pathOf(web_url) },
    },
    view: (id, seen) => ({
      title: ['New milestone', id],
      place: { id, kind, tab: 'milestones' },
      main: html`${form(seen, 'create', { fields: fieldsOf(), button: 'Create milestone' }) ?? html`<p>You may not create milestones here.</p>`}`,
    }),
  });

/** The milestone in an address, which has its number in the project or group. */
async function milestoneIn({ list, params }: PageCall, kind: Kind): Promise<ShownMilestone> {
  const { items } = await list(Milestone, `list${nounOf(kind)}Milestones`, { iids: [params.milestone_iid] });
  return found('Milestone', items[0]);
}

type ShownIssue = Static<typeof Issue>;

const issueRow = (issue: ShownIssue): Html =>
  html`${state(issue.state)} <a href="${pathOf(issue.web_url)}">${issue.title}</a> <span class="soft">${issue.references.relative}</span>`;

const today = () => new Date().toISOString().slice(0, 10);

/** The burndown of a milestone with both dates. */
function burndownIn(
  { start_date, due_date }: ShownMilestone,
  changes: readonly Static<typeof BurndownEvent>[] | undefined,
): Html | undefined {
  if (!changes || !start_date || !due_date) return undefined;
  const days = burndownOf(changes, { first: start_date, last: due_date, today: today() });
  const total_days = (Date.parse(due_date) - Date.parse(start_date)) / 86_400_000 + 1;
  return burndownView(days, total_days);
}

const milestonePage = (kind: Kind) => {
  const Noun = nounOf(kind);
  return page(pathFor(kind, '/milestones/:milestone_iid'), {
    load: async (call) => {
      const { all, one, list, perhaps, may, params } = call;
      const milestone = await milestoneIn(call, kind);
      const [milestone_id, full_path] = [milestone.id, params.id!];
      const [issues, statistics, merge_requests, changes, mayChange, [description]] = await Promise.all([
        perhaps(
          list(Issue, `list${Noun}MilestoneIssues`, { milestone_id, ...pagingOf(call, 'issues'), per_page: 100 }),
        ),
        perhaps(one(IssueStatistics, `count${Noun}Issues`, { milestone: milestone.title, scope: 'all' })),
        perhaps(list(MergeRequestInList, `list${Noun}MilestoneMergeRequests`, { milestone_id, per_page: 100 })),
        perhaps(all(BurndownEvent, `list${Noun}MilestoneBurndownEvents`, { milestone_id })),
        may(`create${Noun}Milestone`),
        textsAsHtml(call, { kind, full_path }, [milestone.description]),
      ]);
      const counts = statistics?.statistics.counts;
      return { id: full_path, milestone, issues, counts, merge_requests, changes, mayChange, description };
    },
    forms: {
      close: { runs: `update${Noun}Milestone`, parameters: { state_event: 'close' } },
      reopen: { runs: `update${Noun}Milestone`, parameters: { state_event: 'activate' } },
    },
    view: ({ id, milestone, issues, counts, merge_requests, changes, mayChange, description }, seen) => {
      const own = [hidden('milestone_id', milestone.id)];
      return {
        title: [milestone.title, 'Milestones', id],
        place: { id, kind, tab: 'milestones' },
        main: html`<p>${milestoneState(milestone)} <span class="soft">${datesOf(milestone)}</span></p>
${
  mayChange &&
  html`<div class="actions"><a class="button" href="${`${seen.path}/edit`}">Edit</a> ${
    milestone.state === 'active'
      ? form(seen, 'close', { fields: own, button: 'Close milestone', look: 'plain' })
      : form(seen, 'reopen', { fields: own, button: 'Reopen milestone', look: 'plain' })
  }</div>`
}
${description && html`<div class="text">${description}</div>`}
${counts && progressView(counts.closed, counts.all)}
${burndownIn(milestone, changes)}
${issues && html`<h2>Issues</h2>${rows(issues.items.map(issueRow), 'There are no issues in it.')}${pager(issues, seen, 'issues')}`}
${
  merge_requests &&
  merge_requests.items.length > 0 &&
  html`<h2>Merge requests</h2>${rows(
    merge_requests.items.map(
      (each) =>
        html`${state(each.state)} <a href="${pathOf(each.web_url)}">${each.title}</a> <span class="soft">${each.references?.relative}</span>`,
    ),
    '',
  )}`
}`,
      };
    },
  });
};

const editMilestonePage = (kind: Kind) => {
  const Noun = nounOf(kind);
  const toMilestones = (_: unknown, { params }: PageCall) => addressOf(kind, params.id!, 'milestones');
  return page(pathFor(kind, '/milestones/:milestone_iid/edit'), {
    signed_in: true,
    load: async (call) => ({
      id: call.params.id!,
      milestone: await milestoneIn(call, kind),
      mayChange: await call.may(`create${Noun}Milestone`),
    }),
    forms: {
      change: { runs: `update${Noun}Milestone`, next: ({ web_url }: ShownMilestone) => pathOf(web_url) },
      ...(kind === 'project'
        ? {
            promote: {
              runs: 'promoteProjectMilestone' as const,
              next: ({ web_url }: ShownMilestone) => pathOf(web_url),
            },
          }
        : {}),
      remove: { runs: `delete${Noun}Milestone`, next: toMilestones },
    },
    view: ({ id, milestone, mayChange }, seen) => {
      const own = [hidden('milestone_id', milestone.id)];
      return {
        title: [`Edit ${milestone.title}`, 'Milestones', id],
        place: { id, kind, tab: 'milestones' },
        main: mayChange
          ? html`${form(seen, 'change', { fields: [...fieldsOf(milestone), ...own], button: 'Save milestone' })}
<div class="actions">${form(seen, 'promote', { fields: own, button: 'Promote to a milestone of the group', look: 'plain' })}${form(seen, 'remove', { fields: own, button: 'Delete milestone', look: 'danger' })}</div>`
          : html`<p>You may not edit this milestone.</p>`,
      };
    },
  });
};

export const milestonePages = (['project', 'group'] as const).flatMap((kind) => [
  milestonesPage(kind),
  newMilestonePage(kind),
  milestonePage(kind),
  editMilestonePage(kind),
]);
