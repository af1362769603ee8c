/** The issues of a project or group, and of the reader. */
import type { Static } from 'typebox';
import { issueKind } from '../../../access/index.ts';
import {
  type AnyPage,
  chip,
  type Html,
  html,
  type PageCall,
  page,
  pager,
  pagingOf,
  people,
  person,
  rows,
  type Seen,
  time,
  withQuery,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { Issue, IssueStatistics } from '../../work/issues/index.ts';
import {
  feedIn,
  filterPage,
  filtersIn,
  type ListPlace,
  listNouns,
  listStarts,
  scopeField,
  scopeOf,
  sharedFilters,
} from '../issuables/list_rules.ts';
import { pathOf } from '../issuables/present.ts';
import { savedViewForms, savedViews, savedViewsView } from '../issuables/saved_view_views.ts';
import { bulkForm, chooseBox, filtersView, labelsView, statesView } from '../issuables/views.ts';

const filters = [...sharedFilters, 'confidential', 'epic_id', 'iteration_id', 'weight', 'my_reaction_emoji'];

const row = (issue: Static<typeof Issue>, place: ListPlace, seen: Seen): Html =>
  html`${chooseBox(seen, 'bulk', issue.iid, issue.references.short)}<a class="title" href="${pathOf(issue.web_url)}">${issue.title}</a> ${labelsView(issue.labels, pathOf(issue.web_url))}${issue.confidential && chip('Confidential', 'lock')}
<div class="soft">${place === 'project' ? issue.references.short : issue.references.full} opened ${time(issue.created_at)} by ${person(issue.author)}${issue.assignees.length > 0 && html`, assigned to ${people(issue.assignees)}`}${
    issue.milestone && html`, milestone ${issue.milestone.title}`
  }${issue.due_date && html`, due ${issue.due_date}`}${issue.user_notes_count > 0 && html`, ${counted(issue.user_notes_count, 'comment')}`}</div>`;

const listOf = (place: ListPlace) =>
  page(`${listStarts[place]}/issues`, {
    ...(place === 'dashboard' ? { signed_in: true as const } : {}),
    load: async (call) => {
      const { list, one, query, params } = call;
      const { order_by, sort, ...filtered } = filtersIn(query, filters);
      const asked = { ...filtered, ...scopeOf(place, query) };
      const state = typeof query.state === 'string' ? query.state : 'opened';
      const order = order_by ? { order_by, sort } : {};
      const [issues, { statistics }, views] = await Promise.all([
        list(Issue, `list${listNouns[place]}Issues`, {
          ...asked,
          ...order,
          ...pagingOf({ query }),
          state,
          with_labels_details: true,
        }),
        one(IssueStatistics, `count${listNouns[place]}Issues`, asked),
        savedViews(call, 'issues', place),
      ]);
      return { id: params.id, state, issues, counts: statistics.counts, views };
    },
    forms: {
      ...savedViewForms('issues', place),
      ...(place === 'project' && {
        create: { runs: 'createProjectIssue' },
        bulk: {
          runs: 'updateProjectIssue',
          each: { list: 'iids', as: 'issue_iid' },
          next: (_: never, call: PageCall) => withQuery(call, {}),
        },
      }),
    },
    view: ({ id, state, issues, counts, views }, seen) => ({
      title: ['Issues', ...(id === undefined ? [] : [id])],
      ...feedIn(place, seen),
      ...(id !== undefined && place !== 'dashboard' ? { place: { id, kind: place, tab: 'issues' } } : {}),
      ...(place === 'project' ? { is_public: true as const } : {}),
      main: html`${place === 'project' && seen.may('create') && html`<p class="actions"><a class="button primary" href="${`${issueKind.page(id!, 'new')}`}">New issue</a></p>`}
${statesView(seen, state, [
  ['opened', 'Open', counts.opened],
  ['closed', 'Closed', counts.closed],
  ['all', 'All', counts.all],
])}
${filtersView(seen, place === 'dashboard' ? [scopeField] : [])}
${savedViewsView(seen, views)}
${rows(
  issues.items.map((issue) => row(issue, place, seen)),
  'No issues match.',
)}
${
  issues.items.length > 0 &&
  bulkForm(seen, [
    { value: 'close', label: 'Close' },
    { value: 'reopen', label: 'Reopen' },
  ])
}
${pager(issues, seen)}`,
    }),
  });

export const issueListPages: readonly AnyPage[] = (['project', 'group', 'dashboard'] as const).flatMap((place) => [
  filterPage(place, 'issues'),
  listOf(place),
]);
