/** The epics of a group (docs/reference/work_pages.md#epics). */
import { epicKind } from '../../../access/index.ts';
import {
  type Field,
  filterForm,
  form,
  html,
  type PageCall,
  page,
  pager,
  pagingOf,
  rows,
  textIn,
} from '../../../pages/index.ts';
import { AwardEmoji } from '../../conversation/award_emoji/index.ts';
import { Epic, RelatedEpic } from '../../work/epics/index.ts';
import { EpicIssue } from '../../work/issues/index.ts';
import { labelControls } from '../issuables/field_present.ts';
import { conversationForms, editedTexts, presentText } from '../issuables/form_rules.ts';
import { colouredLabels } from '../issuables/label_queries.ts';
import { linkForms } from '../issuables/link_views.ts';
import { changedProperty, choiceSearched } from '../issuables/property_views.ts';
import { tickForms } from '../issuables/ticking_rules.ts';
import { textsOf, timelineOf } from '../issuables/timeline_present.ts';
import { statesView } from '../issuables/views.ts';
import { epicRow, treeForms } from './epic_tree_views.ts';
import { epicView, type ShownEpic } from './epic_views.ts';

const toEpic = ({ iid }: ShownEpic, { params }: PageCall): string => epicKind.page(params.id!, iid);

const epicsPage = page('/groups/:id/-/epics', {
  load: async ({ list, params, query }) => {
    const state = query.state === 'closed' ? 'closed' : 'opened';
    const search = textIn(query, 'search');
    const asked = { state, with_labels_details: true, ...(search && { search }), ...pagingOf({ query }) };
    return { id: params.id!, state, epics: await list(Epic, 'listEpics', asked) };
  },
  forms: { create: { runs: 'createEpic' } },
  view: ({ id, state, epics }, seen) => ({
    title: ['Epics', id],
    place: { id, kind: 'group', tab: 'epics' },
    main: html`${seen.may('create') && html`<p class="actions"><a class="button primary" href="${epicKind.page(id, 'new')}">New epic</a></p>`}
${statesView(seen, state, [
  ['opened', 'Open'],
  ['closed', 'Closed'],
])}
${filterForm(seen, [{ name: 'search', label: 'Search epics' }], 'Search')}
${rows(
  epics.items.map((each) => epicRow(each)),
  state === 'opened' ? 'There are no open epics.' : 'There are no closed epics.',
)}
${pager(epics, seen)}`,
  }),
});

const textFields = (epic?: ShownEpic): readonly Field[] => [
  { name: 'title', label: 'Title', is_required: true, maximum: 255, value: epic?.title, is_clearable: true },
  {
    name: 'description',
    label: 'Description',
    kind: 'markdown',
    value: epic?.description,
    help: 'Markdown.',
    is_clearable: true,
  },
];

const newEpicPage = page('/groups/:id/-/epics/new', {
  signed_in: true,
  load: async ({ list, params }) => {
    await list(Epic, 'listEpics', { per_page: 1 });
    return params.id!;
  },
  forms: { create: { runs: 'createEpic', next: toEpic } },
  view: (id, seen) => ({
    title: ['New epic', id],
    place: { id, kind: 'group', tab: 'epics' },
    main: html`${
      form(seen, 'create', {
        fields: [
          ...textFields(),
          { name: 'confidential', label: 'Confidential: only members can see it', kind: 'checkbox' },
        ],
        button: 'Create epic',
      }) ?? html`<p>You may not create epics in this group.</p>`
    }`,
  }),
});

/** The controls of the property that is being changed. */
async function changingFields(call: PageCall, epic: ShownEpic): Promise<readonly Field[] | undefined> {
  if (!call.caller) return undefined;
  switch (changedProperty(call.query)) {
    case 'labels':
      return labelControls(call, epic, choiceSearched(call.query), 'group');
    case 'start_date':
      return datesField('start', epic.start_date_is_fixed, epic.start_date_fixed);
    case 'due_date':
      return datesField('due', epic.due_date_is_fixed, epic.due_date_fixed);
    case 'color':
      return [{ name: 'color', label: 'Colour', kind: 'color', value: epic.color }];
    case 'confidential':
      return [{ name: 'confidential', label: 'Only members can see it', kind: 'checkbox', value: epic.confidential }];
    default:
      return undefined;
  }
}

/** A date that is fixed, or follows from the issues and child epics. */
const datesField = (name: 'start' | 'due', is_fixed: boolean, fixed: string | null): readonly Field[] => [
  {
    name: `${name}_date_is_fixed`,
    label: 'Fixed, and not from issues and child epics',
    kind: 'checkbox',
    value: is_fixed,
  },
  { name: `${name}_date_fixed`, label: 'Fixed date', kind: 'date', value: fixed, is_clearable: 'null' },
];

const epicPage = page('/groups/:id/-/epics/:epic_iid', {
  load: async (call) => {
    const { one, all, list, perhaps, params } = call;
    const epic = await one(Epic, 'getEpic');
    const place = { kind: 'group' as const, id: epic.group_id, full_path: params.id! };
    const [timeline, children, issues, links, awards, labels, changing] = await Promise.all([
      timelineOf(call, 'Epic', { epic_id: epic.id }),
      perhaps(list(Epic, 'listChildEpics', { per_page: 100 })),
      perhaps(list(EpicIssue, 'listEpicIssues', { per_page: 100 })),
      perhaps(all(RelatedEpic, 'listRelatedEpics')),
      list(AwardEmoji, 'listEpicAwardEmoji', { per_page: 100 }),
      epic.labels.length === 0 ? [] : colouredLabels(call.services.db, 'epic', epic.id),
      changingFields(call, epic),
    ]);
    const said = await textsOf(call, place, timeline.threads.items, {
      noun: 'Epic',
      description: epic.description,
    });
    const found = { timeline, children, issues, links, awards: awards.items, labels, changing };
    return { id: params.id!, epic, ...found, ...said };
  },
  forms: {
    ...conversationForms('Epic'),
    ...tickForms('Epic'),
    ...linkForms.Epic,
    ...treeForms,
  },
  view: (shown, seen) => epicView(shown, { ...seen, always: { epic_id: shown.epic.id } }),
});

const editEpicPage = page('/groups/:id/-/epics/:epic_iid/edit', {
  signed_in: true,
  load: async ({ one, may, params }) => {
    const [epic, mayDelete] = await Promise.all([one(Epic, 'getEpic'), may('deleteEpic')]);
    return { id: params.id!, epic, mayDelete };
  },
  forms: {
    change: {
      runs: 'updateEpic',
      edits: async ({ one }) => editedTexts(await one(Epic, 'getEpic')),
      next: toEpic,
    },
  },
  view: ({ id, epic, mayDelete }, seen) => ({
    title: [`Edit ${epic.title}`, `&${epic.iid}`, id],
    place: { id, kind: 'group', tab: 'epics' },
    main: html`${
      form(seen, 'change', { fields: textFields(epic), edited: editedTexts(epic), button: 'Save epic' }) ??
      html`<p>You may not edit this epic.</p>`
    }${presentText(seen, epic.description)}
<p>${mayDelete && html`<a href="${`${epicKind.page(id, epic.iid)}/delete`}">Delete the epic</a> `}<a href="${epicKind.page(id, epic.iid)}">Back to the epic</a></p>`,
  }),
});

export const epicPages = [epicsPage, newEpicPage, editEpicPage, epicPage];
