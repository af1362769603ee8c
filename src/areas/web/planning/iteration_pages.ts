/** The iterations of a group and their cadences (docs/reference/work_pages.md#iterations). */
import type { Static } from 'typebox';
import { notFound } from '../../../http/index.ts';
import {
  chip,
  day,
  type Field,
  form,
  type Html,
  hidden,
  html,
  type PageCall,
  page,
  pager,
  pagingOf,
  refusalIn,
  rows,
  state,
} from '../../../pages/index.ts';
import { Iteration, IterationCadence, iterationsById, presentIteration } from '../../planning/iterations/index.ts';
import { Issue, IssueStatistics } from '../../work/issues/index.ts';
import { pathOf, textsAsHtml } from '../issuables/present.ts';
import { statesView } from '../issuables/views.ts';
import { addressOf } from './definition.ts';
import { progressView } from './milestone_views.ts';

type ShownIteration = Static<typeof Iteration>;
type Cadence = Static<typeof IterationCadence>;

const titleOf = ({ title, start_date, due_date }: ShownIteration): string => title ?? `${start_date} to ${due_date}`;

const stateChip = ({ state: current }: ShownIteration): Html =>
  chip(current === 1 ? 'Upcoming' : current === 2 ? 'Current' : 'Closed');

const newCadence = { automatic: true, duration_in_weeks: 2, iterations_in_advance: 2 };

/** The fields of a cadence. @param cadence undefined for a new one */
const cadenceFields = (cadence?: Cadence): readonly Field[] => {
  const values: Partial<Cadence> = cadence ?? newCadence;
  return [
    { name: 'title', label: 'Title', is_required: true, maximum: 255, value: values.title, is_clearable: true },
    ...(cadence ? [{ name: 'active', label: 'Active', kind: 'checkbox', value: values.active } as const] : []),
    { name: 'automatic', label: 'Create iterations automatically', kind: 'checkbox', value: values.automatic },
    { name: 'start_date', label: 'First day', kind: 'date', value: values.start_date },
    { name: 'duration_in_weeks', label: 'Weeks of an iteration', kind: 'number', value: values.duration_in_weeks },
    {
      name: 'iterations_in_advance',
      label: 'Iterations in advance',
      kind: 'number',
      value: values.iterations_in_advance,
    },
    { name: 'roll_over', label: 'Move open issues to the next iteration', kind: 'checkbox', value: values.roll_over },
  ];
};

const iterationFields: readonly Field[] = [
  { name: 'title', label: 'Title', maximum: 255 },
  { name: 'start_date', label: 'Start', kind: 'date', is_required: true },
  { name: 'due_date', label: 'Due', kind: 'date', is_required: true },
];

const lengthOf = ({ automatic, duration_in_weeks }: Cadence): string =>
  automatic && duration_in_weeks !== null ? `every ${duration_in_weeks} weeks` : 'by hand';

const iterationsPage = page('/groups/:id/-/iterations', {
  load: async (call) => {
    const { list, perhaps, params, query } = call;
    const shown = query.state === 'closed' || query.state === 'all' ? query.state : 'opened';
    const [iterations, cadences] = await Promise.all([
      list(Iteration, 'listGroupIterations', { ...pagingOf(call), state: shown }),
      perhaps(list(IterationCadence, 'listIterationCadences', { per_page: 100 })),
    ]);
    return { id: params.id!, shown, iterations, cadences: cadences?.items ?? [] };
  },
  forms: {
    create_cadence: { runs: 'createIterationCadence' },
    create: { runs: 'createIteration' },
    change_cadence: { runs: 'updateIterationCadence' },
    remove_cadence: { runs: 'deleteIterationCadence' },
  },
  view: ({ id, shown, iterations, cadences }, seen) => {
    const manual = cadences.filter(({ automatic }) => !automatic);
    return {
      title: ['Iterations', id],
      place: { id, kind: 'group', tab: 'iterations' },
      main: html`${statesView(seen, shown, [
        ['opened', 'Open'],
        ['closed', 'Closed'],
        ['all', 'All'],
      ])}
${rows(
  iterations.items.map(
    (each) =>
      html`<a class="title" href="${pathOf(each.web_url)}">${titleOf(each)}</a> ${stateChip(each)}<div class="soft">${day(each.start_date)} to ${day(each.due_date)}</div>`,
  ),
  'There are no iterations here.',
)}
${pager(iterations, seen)}
${
  seen.may('create') &&
  manual.length > 0 &&
  html`<details><summary>New iteration</summary>${form(seen, 'create', {
    fields: [
      {
        name: 'cadence_id',
        label: 'Cadence',
        kind: 'select',
        options: manual.map(({ id: value, title }) => ({ value, label: title })),
      },
      ...iterationFields,
    ],
    button: 'Create iteration',
  })}</details>`
}
<h2>Cadences</h2>
${rows(
  cadences.map(
    (each) =>
      html`<span class="title">${each.title}</span> <span class="soft">${lengthOf(each)}</span> ${
        seen.may('create_cadence') &&
        html`<details ?open="${refusalIn(seen, 'change_cadence', each.id) !== undefined}"><summary>Change<span class="visually-hidden"> ${each.title}</span></summary>${form(
          seen,
          'change_cadence',
          {
            fields: [...cadenceFields(each), hidden('cadence_id', each.id)],
            button: 'Save cadence',
            look: 'plain',
            key: each.id,
          },
        )}${form(seen, 'remove_cadence', {
          fields: [hidden('cadence_id', each.id)],
          button: html`Delete<span class="visually-hidden"> ${each.title}</span>, with its iterations`,
          look: 'danger',
          key: each.id,
        })}</details>`
      }`,
  ),
  'There are no cadences here.',
)}
${seen.may('create_cadence') && html`<details><summary>New cadence</summary>${form(seen, 'create_cadence', { fields: cadenceFields(), button: 'Create cadence' })}</details>`}`,
    };
  },
});

/** The iteration in an address. Everyone who may list the iterations of the group may see it. */
async function iterationIn({ services: { db, url }, list, params }: PageCall): Promise<ShownIteration> {
  await list(Iteration, 'listGroupIterations', { per_page: 1 });
  const id = /^\d{1,15}$/.test(params.iteration_id!) ? Number(params.iteration_id) : 0;
  const row = (await iterationsById(db, [id])).get(id);
  if (row?.full_path.toLowerCase() !== params.id!.toLowerCase()) throw notFound('Iteration');
  return presentIteration(url, row);
}

const iterationPage = page('/groups/:id/-/iterations/:iteration_id', {
  load: async (call) => {
    const { one, list, perhaps, params } = call;
    const iteration = await iterationIn(call);
    const asked = { iteration_id: iteration.id, scope: 'all' };
    const [issues, statistics, [description]] = await Promise.all([
      list(Issue, 'listGroupIssues', { ...asked, ...pagingOf(call), per_page: 100 }),
      perhaps(one(IssueStatistics, 'countGroupIssues', asked)),
      textsAsHtml(call, { kind: 'group', full_path: params.id! }, [iteration.description]),
    ]);
    return { id: params.id!, iteration, issues, counts: statistics?.statistics.counts, description };
  },
  view: ({ id, iteration, issues, counts, description }, seen) => ({
    title: [titleOf(iteration), 'Iterations', id],
    place: { id, kind: 'group', tab: 'iterations' },
    main: html`<p>${stateChip(iteration)} <span class="soft">${day(iteration.start_date)} to ${day(iteration.due_date)}</span></p>
${description && html`<div class="text">${description}</div>`}
${counts && progressView(counts.closed, counts.all)}
<h2>Issues</h2>
${rows(
  issues.items.map(
    (each) =>
      html`${state(each.state)} <a href="${pathOf(each.web_url)}">${each.title}</a> <span class="soft">${each.references.full}</span>`,
  ),
  'There are no issues in it.',
)}
${pager(issues, seen)}
<p><a href="${addressOf('group', id, 'iterations')}">All iterations</a></p>`,
  }),
});

export const iterationPages = [iterationsPage, iterationPage];
