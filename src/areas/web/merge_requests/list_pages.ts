/** The merge requests of a project. */
import type { Static } from 'typebox';
import { mergeRequestKind } from '../../../access/index.ts';
import {
  type Field,
  html,
  mergeRequestState,
  page,
  pager,
  pagingOf,
  people,
  person,
  rows,
  time,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { MergeRequestInList } from '../../work/merge_requests/index.ts';
import { filtersIn, sharedFilters } from '../issuables/list_rules.ts';
import { pathOf } from '../issuables/present.ts';
import { filtersView, labelsView, statesView } from '../issuables/views.ts';

const filters = [
  ...sharedFilters,
  'reviewer_username',
  'target_branch',
  'source_branch',
  'draft',
  'approved',
  'my_reaction_emoji',
];

const ownFields: readonly Field[] = [
  { name: 'reviewer_username', label: 'Reviewer' },
  { name: 'target_branch', label: 'Target branch' },
  {
    name: 'draft',
    label: 'Drafts',
    kind: 'select',
    options: [
      { value: '', label: 'With drafts' },
      { value: 'false', label: 'Without drafts' },
      { value: 'true', label: 'Only drafts' },
    ],
  },
];

const row = (each: Static<typeof MergeRequestInList>) =>
  html`<a class="title" href="${pathOf(each.web_url)}">${each.title}</a> ${labelsView(each.labels ?? [], pathOf(each.web_url))}${each.state !== 'opened' && mergeRequestState(each.state)}
<div class="soft">${each.references?.short} opened ${time(each.created_at)} by ${person(each.author)}, <code>${each.source_branch}</code> into <code>${each.target_branch}</code>${
    each.assignees && each.assignees.length > 0 && html`, assigned to ${people(each.assignees)}`
  }${each.reviewers && each.reviewers.length > 0 && html`, to be reviewed by ${people(each.reviewers)}`}${
    each.milestone && html`, milestone ${each.milestone.title}`
  }${each.user_notes_count !== undefined && each.user_notes_count > 0 && html`, ${counted(each.user_notes_count, 'comment')}`}</div>`;

const states = ['opened', 'merged', 'closed'] as const;

export const mergeRequestsPage = page('/:id/-/merge_requests', {
  load: async ({ list, query, params }) => {
    const { order_by, sort, ...asked } = filtersIn(query, filters);
    const state = typeof query.state === 'string' ? query.state : 'opened';
    const order = order_by ? { order_by, sort } : {};
    const read = (more: object) => list(MergeRequestInList, 'listProjectMergeRequests', { ...asked, ...more });
    const [found, ...counted] = await Promise.all([
      read({ ...order, ...pagingOf({ query }), state, with_labels_details: true }),
      ...states.map((each) => (each === state ? undefined : read({ state: each, per_page: 1, view: 'simple' }))),
    ]);
    return { id: params.id!, state, found, counts: counted.map((other) => (other ?? found).total) };
  },
  forms: { create: { runs: 'createMergeRequest' } },
  view: ({ id, state, found, counts }, seen) => ({
    title: ['Merge requests', id],
    place: { id, kind: 'project', tab: 'merge_requests' },
    is_public: true,
    main: html`${seen.may('create') && html`<p class="actions"><a class="button primary" href="${mergeRequestKind.page(id, 'new')}">New merge request</a></p>`}
${statesView(seen, state, [
  ['opened', 'Open', counts[0]],
  ['merged', 'Merged', counts[1]],
  ['closed', 'Closed', counts[2]],
  ['all', 'All'],
])}
${filtersView(seen, ownFields)}
${rows(found.items.map(row), 'No merge requests match.')}
${pager(found, seen)}`,
  }),
});
