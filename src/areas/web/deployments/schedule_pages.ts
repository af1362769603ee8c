/** Schedules of pipelines (docs/reference/pipeline_schedules.md#the-pages). */
import type { Static } from 'typebox';
import { pageBelow } from '../../../access/index.ts';
import type { Values } from '../../../http/index.ts';
import { form, hidden, html, type PageCall, page, pagingOf, rows } from '../../../pages/index.ts';
import { PipelineSchedule, PipelineScheduleDetail } from '../../ci/schedules/index.ts';
import { fieldsOf, formOf, part, sectionPage } from '../declared/definition.ts';
import { formPart, reading } from '../declared/form_present.ts';
import { schedulesView } from './schedule_views.ts';

const tab = 'pipeline_schedules';

const schedulesPage = page('/:id/-/pipeline_schedules', {
  load: async ({ list, may, params, query }) => {
    const [schedules, may_run, may_take] = await Promise.all([
      list(PipelineSchedule, 'listPipelineSchedules', pagingOf({ query })),
      may('createPipelineSchedule'),
      may('takeOverPipelineSchedule', { pipeline_schedule_id: 0 }),
    ]);
    return { id: params.id!, schedules, may_run, may_take };
  },
  forms: {
    play: { runs: 'playPipelineSchedule' },
    take: { runs: 'takeOverPipelineSchedule' },
    remove: { runs: 'deletePipelineSchedule' },
  },
  view: schedulesView,
});

const fields = fieldsOf({
  description: {},
  ref: { label: 'Branch or tag', help: undefined },
  cron: { label: 'When', help: 'Minute, hour, day of the month, month and weekday: 0 4 * * 1-5 is each workday at 4.' },
  cron_timezone: { label: 'Time zone', help: 'Such as UTC or Europe/Berlin.' },
  active: { label: 'Switched on', help: undefined },
});

const toList = (_: Values, { params }: PageCall) => pageBelow.project(params.id!, tab);

const newSchedulePage = sectionPage(
  '/:id/-/pipeline_schedules/new',
  { tab, operation: 'createPipelineSchedule', title: 'New pipeline schedule' },
  [
    formPart(
      'schedule',
      formOf('createPipelineSchedule', fields, {
        starts: async () => ({ cron_timezone: 'UTC', active: true }),
        ...{ intro: 'Its pipelines run in your name.', button: 'Create schedule', next: toList },
      }),
    ),
  ],
);

const variablesPart = part<Static<typeof PipelineScheduleDetail>>({
  forms: {
    add_variable: { runs: 'createPipelineScheduleVariable' },
    remove_variable: { runs: 'deletePipelineScheduleVariable' },
  },
  done: { add_variable: 'The variable is added.', remove_variable: 'The variable is deleted.' },
  load: ({ one }) => one(PipelineScheduleDetail, 'getPipelineSchedule'),
  view: ({ variables = [] }, seen) => html`<h2>Variables</h2>
<p class="soft">Its pipelines get them, before all others.</p>
${rows(
  variables.map(
    ({ key, value }) =>
      html`<code>${key}</code> <span class="soft">${value}</span> ${form(seen, 'remove_variable', {
        fields: [hidden('key', key)],
        button: html`Delete <span class="visually-hidden">${key}</span>`,
        ...{ look: 'danger', key },
      })}`,
  ),
  'There are no variables.',
)}
${form(seen, 'add_variable', {
  fields: [
    { name: 'key', label: 'Key', is_required: true },
    { name: 'value', label: 'Value', kind: 'area' },
  ],
  button: 'Add variable',
})}`,
});

const editSchedulePage = sectionPage(
  '/:id/-/pipeline_schedules/:pipeline_schedule_id/edit',
  {
    ...{ tab, operation: 'updatePipelineSchedule', title: 'Pipeline schedules' },
    titled: async ({ one }) => (await one(PipelineScheduleDetail, 'getPipelineSchedule')).description,
  },
  [
    formPart('schedule', {
      ...formOf('updatePipelineSchedule', fields, { button: 'Save schedule', next: toList }),
      reads: reading('getPipelineSchedule'),
    }),
    variablesPart,
  ],
);

export const schedulePages = [newSchedulePage, editSchedulePage, schedulesPage];
