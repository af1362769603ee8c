/** The merge requests of a project or group, and of the reader. */
import type { Static } from 'typebox';
import { mergeRequestKind } from '../../../access/index.ts';
import {
  type AnyPage,
  type Field,
  type Html,
  html,
  mergeRequestState,
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
import { MergeRequestInList } from '../../work/merge_requests/index.ts';
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

const filters = [
  ...sharedFilters,
  'reviewer_username',
  'reviewer_id',
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

const row = (each: Static<typeof MergeRequestInList>, place: ListPlace, seen: Seen): Html =>
  html`${chooseBox(seen, 'bulk', each.iid, `!${each.iid}`)}<a class="title" href="${pathOf(each.web_url)}">${each.title}</a> ${labelsView(each.labels ?? [], pathOf(each.web_url))}${each.state !== 'opened' && mergeRequestState(each.state)}
<div class="soft">${place === 'project' ? each.references?.short : each.references?.full} opened ${time(each.created_at)} by ${person(each.author)}, <code>${each.source_branch}</code> into <code>${each.target_branch}</code>${
    each.assignees && each.assignees.length > 0 && html`, assigned to ${people(each.assignees)}`
  }${each.reviewers && each.reviewers.length > 0 && html`, to be reviewed by ${people(each.reviewers)}`}${
    each.milestone && html`, milestone ${each.milestone.title}`
  }${each.user_notes_count !== undefined && each.user_notes_count > 0 && html`, ${counted(each.user_notes_count, 'comment')}`}</div>`;

const states = ['opened', 'merged', 'closed'] as const;

const listOf = (place: ListPlace) =>
  page(`${listStarts[place]}/merge_requests`, {
    ...(place === 'dashboard' ? { signed_in: true as const } : {}),
    load: async (call) => {
      const { list, query, params } = call;
      const { order_by, sort, ...filtered } = filtersIn(query, filters);
      const asked = { ...filtered, ...scopeOf(place, query) };
      const state = typeof query.state === 'string' ? query.state : 'opened';
      const order = order_by ? { order_by, sort } : {};
      const read = (more: object) =>
        list(MergeRequestInList, `list${listNouns[place]}MergeRequests`, { ...asked, ...more });
      const [views, found, ...counted] = await Promise.all([
        savedViews(call, 'merge_requests', place),
        read({ ...order, ...pagingOf({ query }), state, with_labels_details: true }),
        ...states.map((each) => (each === state ? undefined : read({ state: each, per_page: 1, view: 'simple' }))),
      ]);
      return { id: params.id, state, found, counts: counted.map((other) => (other ?? found).total), views };
    },
    forms: {
      ...savedViewForms('merge_requests', place),
      ...(place === 'project' && {
        create: { runs: 'createMergeRequest' },
        bulk: {
          runs: 'updateMergeRequest',
          each: { list: 'iids', as: 'merge_request_iid' },
          next: (_: never, call: PageCall) => withQuery(call, {}),
        },
      }),
    },
    view: ({ id, state, found, counts, views }, seen) => ({
      title: ['Merge requests', ...(id === undefined ? [] : [id])],
      ...feedIn(place, seen),
      ...(id !== undefined && place !== 'dashboard' ? { place: { id, kind: place, tab: 'merge_requests' } } : {}),
      ...(place === 'project' ? { is_public: true as const } : {}),
      main: html`${place === 'project' && seen.may('create') && html`<p class="actions"><a class="button primary" href="${mergeRequestKind.page(id!, 'new')}">New merge request</a></p>`}
${statesView(seen, state, [
  ['opened', 'Open', counts[0]],
  ['merged', 'Merged', counts[1]],
  ['closed', 'Closed', counts[2]],
  ['all', 'All'],
])}
${filtersView(seen, place === 'dashboard' ? [scopeField, ...ownFields] : ownFields)}
${savedViewsView(seen, views)}
${rows(
  found.items.map((each) => row(each, place, seen)),
  'No merge requests match.',
)}
${
  found.items.length > 0 &&
  bulkForm(seen, [
    { value: 'close', label: 'Close' },
    { value: 'reopen', label: 'Reopen' },
  ])
}
${pager(found, seen)}`,
    }),
  });

export const mergeRequestListPages: readonly AnyPage[] = (['project', 'group', 'dashboard'] as const).flatMap(
  (place) => [filterPage(place, 'merge_requests'), listOf(place)],
);
