/** The issues of a project. */
import type { Static } from 'typebox';
import { issueKind } from '../../../access/index.ts';
import { chip, html, page, pager, pagingOf, people, person, rows, time } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { Issue, IssueStatistics } from '../../work/issues/index.ts';
import { filtersIn, sharedFilters } from '../issuables/list_rules.ts';
import { pathOf } from '../issuables/present.ts';
import { filtersView, labelsView, statesView } from '../issuables/views.ts';

const filters = [...sharedFilters, 'confidential', 'epic_id', 'iteration_id', 'weight', 'my_reaction_emoji'];

const row = (issue: Static<typeof Issue>) =>
  html`<a class="title" href="${pathOf(issue.web_url)}">${issue.title}</a> ${labelsView(issue.labels, pathOf(issue.web_url))}${issue.confidential && chip('Confidential', 'lock')}
<div class="soft">${issue.references.short} opened ${time(issue.created_at)} by ${person(issue.author)}${issue.assignees.length > 0 && html`, assigned to ${people(issue.assignees)}`}${
    issue.milestone && html`, milestone ${issue.milestone.title}`
  }${issue.due_date && html`, due ${issue.due_date}`}${issue.user_notes_count > 0 && html`, ${counted(issue.user_notes_count, 'comment')}`}</div>`;

export const issuesPage = page('/:id/-/issues', {
  load: async ({ list, one, query, params }) => {
    const { order_by, sort, ...asked } = filtersIn(query, filters);
    const state = typeof query.state === 'string' ? query.state : 'opened';
    const order = order_by ? { order_by, sort } : {};
    const [issues, { statistics }] = await Promise.all([
      list(Issue, 'listProjectIssues', {
        ...asked,
        ...order,
        ...pagingOf({ query }),
        state,
        with_labels_details: true,
      }),
      one(IssueStatistics, 'countProjectIssues', asked),
    ]);
    return { id: params.id!, state, issues, counts: statistics.counts };
  },
  forms: { create: { runs: 'createProjectIssue' } },
  view: ({ id, state, issues, counts }, seen) => ({
    title: ['Issues', id],
    place: { id, kind: 'project', tab: 'issues' },
    is_public: true,
    main: html`${seen.may('create') && html`<p class="actions"><a class="button primary" href="${`${issueKind.page(id, 'new')}`}">New issue</a></p>`}
${statesView(seen, state, [
  ['opened', 'Open', counts.opened],
  ['closed', 'Closed', counts.closed],
  ['all', 'All', counts.all],
])}
${filtersView(seen)}
${rows(issues.items.map(row), 'No issues match.')}
${pager(issues, seen)}`,
  }),
});
