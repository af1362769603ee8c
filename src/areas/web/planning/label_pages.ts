/** The labels of a project or group (docs/reference/work_pages.md#labels). */
import type { Static } from 'typebox';
import {
  type Content,
  chip,
  type Field,
  filterForm,
  form,
  html,
  label,
  page,
  pager,
  pagingOf,
  rows,
  type Seen,
  textIn,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import { GroupLabel, ProjectLabel } from '../../planning/labels/index.ts';
import { addressOf, type Kind, nounOf, pathFor } from './definition.ts';

type ShownLabel = Static<typeof GroupLabel> &
  Partial<Pick<Static<typeof ProjectLabel>, 'priority' | 'is_project_label'>>;

const schemas = { project: ProjectLabel, group: GroupLabel };

/** The colour that a new label has until another one is chosen. */
const firstColor = '#1f75cb';

/** @param name of the parameter for the name */
const fieldsOf = (kind: Kind, name: 'name' | 'new_name', shown?: ShownLabel): readonly Field[] => [
  {
    name,
    label: 'Name',
    is_required: true,
    maximum: 255,
    value: shown?.name,
    is_clearable: true,
    refused_as: ['title'],
    help: 'With a scope, such as priority::high, an item has one label of the scope.',
  },
  { name: 'color', label: 'Colour', kind: 'color', value: shown?.color ?? firstColor },
  { name: 'description', label: 'Description', value: shown?.description, is_clearable: true },
  ...(kind === 'project'
    ? [
        {
          name: 'priority',
          label: 'Priority',
          kind: 'number' as const,
          value: shown?.priority,
          is_clearable: 'null' as const,
          help: 'Lists can be sorted by it; 0 comes first.',
        },
      ]
    : []),
];

function countsView(kind: Kind, id: string, { name, ...counts }: ShownLabel): Content {
  const query = new URLSearchParams({ labels: name });
  const parts = [
    [counts.open_issues_count, 'open issue', 'issues'],
    [counts.open_merge_requests_count, 'open merge request', 'merge_requests'],
  ] as const;
  const shown = parts.filter(([count]) => count !== undefined && count > 0);
  return shown.map(([count, noun, rest], index) => [
    index > 0 && ', ',
    kind === 'project'
      ? html`<a href="${`${addressOf(kind, id, rest)}?${query}`}">${counted(count!, noun)}</a>`
      : counted(count!, noun),
  ]);
}

const isOwn = (kind: Kind, { is_project_label }: ShownLabel) => kind === 'group' || is_project_label === true;

function row(kind: Kind, id: string, shown: ShownLabel, seen: Seen): Content {
  const { id: label_id, name, color, description_html, description, archived, priority, subscribed } = shown;
  const fields: readonly Field[] = [{ name: 'label_id', label: '', kind: 'hidden', value: label_id }];
  return html`${label(name, color, kind === 'project' ? `${addressOf(kind, id, 'issues')}?${new URLSearchParams({ labels: name })}` : undefined)} ${
    archived && chip('Archived')
  }${typeof priority === 'number' && chip(`Priority ${priority}`)}${!isOwn(kind, shown) && chip('Of the group', 'group')}
<div class="soft">${description_html ? description : ''} ${countsView(kind, id, shown)}</div>
<div class="actions">${
    isOwn(kind, shown) &&
    seen.may('create') &&
    html`<a class="button" href="${addressOf(kind, id, `labels/${label_id}/edit`)}">Edit<span class="visually-hidden"> ${name}</span></a>`
  }${form(seen, subscribed ? 'unsubscribe' : 'subscribe', {
    fields,
    button: html`${subscribed ? 'Unsubscribe' : 'Subscribe'}<span class="visually-hidden"> ${subscribed ? 'from' : 'to'} ${name}</span>`,
    look: 'plain',
    key: label_id,
  })}</div>`;
}

const labelsPage = (kind: Kind) => {
  const Noun = nounOf(kind);
  return page(pathFor(kind, '/labels'), {
    load: async ({ list, params, query }) => {
      const search = textIn(query, 'search');
      const labels = await list(schemas[kind], `list${Noun}Labels`, {
        ...pagingOf({ query }),
        with_counts: true,
        ...(search && { search }),
      });
      return { id: params.id!, labels };
    },
    forms: {
      create: { runs: `create${Noun}Label` },
      subscribe: { runs: `subscribeTo${Noun}Label` },
      unsubscribe: { runs: `unsubscribeFrom${Noun}Label` },
    },
    view: ({ id, labels }, seen) => ({
      title: ['Labels', id],
      place: { id, kind, tab: 'labels' },
      main: html`${filterForm(seen, [{ name: 'search', label: 'Search labels' }], 'Search')}
${rows(
  (labels.items as ShownLabel[]).map((each) => row(kind, id, each, seen)),
  'There are no labels here yet.',
)}
${pager(labels, seen)}
${seen.may('create') && html`<h2>New label</h2>${form(seen, 'create', { fields: fieldsOf(kind, 'name'), button: 'Create label' })}`}`,
    }),
  });
};

const editLabelPage = (kind: Kind) => {
  const Noun = nounOf(kind);
  const toLabels = (_: unknown, { params }: { params: Readonly<Record<string, string>> }) =>
    addressOf(kind, params.id!, 'labels');
  return page(pathFor(kind, '/labels/:label_id/edit'), {
    signed_in: true,
    load: async ({ one, params }) => ({
      id: params.id!,
      shown: (await one(schemas[kind], `get${Noun}Label`)) as ShownLabel,
    }),
    forms: {
      change: { runs: `update${Noun}Label`, next: toLabels },
      ...(kind === 'project' ? { promote: { runs: 'promoteProjectLabel' as const, next: toLabels } } : {}),
      remove: { runs: `delete${Noun}Label`, next: toLabels },
    },
    view: ({ id, shown }, seen) => ({
      title: [`Edit ${shown.name}`, 'Labels', id],
      place: { id, kind, tab: 'labels' },
      main: html`${
        form(seen, 'change', {
          fields: [
            ...fieldsOf(kind, 'new_name', shown),
            { name: 'archived', label: 'Archived: not offered any more', kind: 'checkbox', value: shown.archived },
          ],
          button: 'Save label',
        }) ?? html`<p>You may not edit this label.</p>`
      }
<div class="actions">${form(seen, 'promote', { button: 'Promote to a label of the group', look: 'plain' })}${form(seen, 'remove', { button: 'Delete label', look: 'danger' })}</div>`,
    }),
  });
};

export const labelPages = (['project', 'group'] as const).flatMap((kind) => [labelsPage(kind), editLabelPage(kind)]);
