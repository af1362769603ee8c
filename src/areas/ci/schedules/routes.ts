/** Schedules: pipelines of a branch or tag that start at set times (docs/reference/pipeline_schedules.md). */
import { Type } from 'typebox';
import { projectRole, refuseTooOften, tooOftenText } from '../../../access/index.ts';
import {
  type AnyEndpoint,
  AnyJson,
  allOptional,
  byOutcome,
  checked,
  checkUnmodified,
  del,
  deleteFound,
  forbidden,
  get,
  Id,
  nothing,
  one,
  optional,
  pageOf,
  post,
  put,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { Pipeline, pipelinesOf, presentPipeline } from '../../code/pipelines/index.ts';
import { cronReasons, timeZoneReasons } from '../../deployments/freeze_periods/index.ts';
import { Description } from '../running/parameters.ts';
import { managedSchedule, mayManage, mayRunOn, ownSchedule, scheduleIn } from './access.ts';
import { addSchedule, changeSchedule, refusedTexts, takeOver } from './actions.ts';
import { runSchedule } from './jobs.ts';
import { PipelineSchedule, PipelineScheduleDetail, presentSchedule } from './present.ts';
import { scheduleReply, schedulesOf } from './queries.ts';

const path = '/projects/:id/pipeline_schedules';
const single = { pipeline_schedule_id: Id };
const features = { feature: ['repository', 'builds'] } as const;
const reader = projectRole('reporter', features);
const developer = projectRole('developer', features);
const missing = '404 Pipeline Schedule Not Found';

const required = {
  description: Description(),
  ref: Type.String({ minLength: 1, description: 'A branch or tag, or its full name' }),
  cron: checked(Type.String({ description: 'Cron line of five fields, e.g. `0 1 * * *`' }), cronReasons),
};
const settings = {
  cron_timezone: checked(
    Type.String({ description: 'IANA or Rails name of a time zone; default `UTC`' }),
    timeZoneReasons,
  ),
  active: Type.Boolean(),
  inputs: Type.Array(
    Type.Object({
      name: Type.String({ minLength: 1 }),
      value: optional(AnyJson('Of an input that the configuration declares')),
      destroy: optional(Type.Boolean({ description: 'Whether the schedule has no value for it any more' })),
    }),
    { maxItems: 100, description: 'The values of further inputs stay' },
  ),
};
const refused = [`ref: ${refusedTexts.ambiguous}`, `ref: ${refusedTexts.unknown}`, 'inputs is invalid'];

export const scheduleRoutes: AnyEndpoint[] = [
  get(path, {
    operation: 'listPipelineSchedules',
    summary: 'List the pipeline schedules of a project, oldest first',
    access: reader,
    input: { scope: optional(Type.Enum(['active', 'inactive'])), ...paging },
    returns: pageOf(PipelineSchedule),
    handle: async ({ db, url, project, input }) => {
      const query = schedulesOf(db, project.id)
        .$if(input.scope !== undefined, (q) => q.where('active', '=', input.scope === 'active'))
        .orderBy('id');
      return mapPage(await paginate(db, query, input), (row) => presentSchedule(url, row));
    },
  }),
  get(`${path}/:pipeline_schedule_id`, {
    operation: 'getPipelineSchedule',
    summary: 'Get a pipeline schedule',
    description: 'With the variables for its owner and for Maintainers.',
    access: reader,
    input: single,
    returns: one(PipelineScheduleDetail),
    holds_secrets: true,
    refusals: { 404: missing },
    handle: async ({ project, caller, input, ...services }) => {
      const { id, owner_id } = await scheduleIn({ db: services.db, project }, input.pipeline_schedule_id);
      return scheduleReply(services, project.id, id, mayManage({ project, caller }, owner_id));
    },
  }),
  get(`${path}/:pipeline_schedule_id/pipelines`, {
    operation: 'listPipelinesOfSchedule',
    summary: 'List the pipelines that a schedule has started, newest first',
    access: reader,
    input: { ...single, ...paging },
    returns: pageOf(Pipeline),
    refusals: { 404: missing },
    handle: async ({ db, url, project, input }) => {
      const { id } = await scheduleIn({ db, project }, input.pipeline_schedule_id);
      const query = pipelinesOf(db, project).where('schedule_id', '=', id).orderBy('pipelines.id', 'desc');
      return mapPage(await paginate(db, query, input), (row) => presentPipeline(url, project.full_path, row));
    },
  }),
  post(path, {
    operation: 'createPipelineSchedule',
    summary: 'Create a pipeline schedule',
    description: 'For a branch or tag for which the caller may run pipelines.',
    access: developer,
    input: { ...required, ...allOptional(settings) },
    returns: one(PipelineScheduleDetail),
    refusals: { 400: [...refused, `base: ${refusedTexts.many('<number>')}`], 403: '403 Forbidden' },
    handle: async ({ project, caller, input, ...services }) => {
      const id = await addSchedule(services, { db: services.db, project, caller }, input);
      return scheduleReply(services, project.id, id, true);
    },
  }),
  put(`${path}/:pipeline_schedule_id`, {
    operation: 'updatePipelineSchedule',
    summary: 'Update a pipeline schedule of the caller',
    access: developer,
    input: { ...single, ...allOptional({ ...required, ...settings }) },
    returns: one(PipelineScheduleDetail),
    refusals: { 400: refused, 403: '403 Forbidden', 404: missing },
    handle: async ({ project, caller, input, ...services }) => {
      const { pipeline_schedule_id, ...changes } = input;
      const granted = { db: services.db, project, caller };
      const { id } = await ownSchedule(granted, pipeline_schedule_id);
      await changeSchedule(services, granted, id, changes);
      return scheduleReply(services, project.id, id, true);
    },
  }),
  del(`${path}/:pipeline_schedule_id`, {
    operation: 'deletePipelineSchedule',
    summary: 'Delete a pipeline schedule',
    description: 'For its owner and for Maintainers. Its pipelines stay.',
    access: developer,
    input: single,
    conditional: true,
    returns: nothing,
    refusals: { 403: '403 Forbidden', 404: missing },
    handle: async ({ db, project, caller, input, unmodified_since }) => {
      const schedule = await managedSchedule({ db, project, caller }, input.pipeline_schedule_id);
      checkUnmodified(schedule.updated_at, unmodified_since);
      await deleteFound(db, 'pipeline_schedules', schedule.id, 'Pipeline Schedule');
    },
  }),
  post(`${path}/:pipeline_schedule_id/take_ownership`, {
    operation: 'takeOverPipelineSchedule',
    summary: 'Become the owner of a pipeline schedule',
    access: projectRole('maintainer', features),
    input: single,
    returns: byOutcome(PipelineScheduleDetail, { 200: 'The caller owns it already' }),
    refusals: { 404: missing },
    handle: async ({ project, caller, input, ...services }) => {
      const { id } = await scheduleIn({ db: services.db, project }, input.pipeline_schedule_id);
      const isNew = await takeOver(services.db, id, caller.id);
      const body = await scheduleReply(services, project.id, id, true);
      return { body, ...(!isNew && { status: 200 }) };
    },
  }),
  post(`${path}/:pipeline_schedule_id/play`, {
    operation: 'playPipelineSchedule',
    summary: 'Start the pipeline of a schedule now, in the name of the caller',
    access: developer,
    input: single,
    returns: one(Type.Object({ message: Type.String() })),
    refusals: { 403: '403 Forbidden', 404: missing, 429: tooOftenText },
    handle: async ({ db, project, caller, input }) => {
      const { id, ref } = await scheduleIn({ db, project }, input.pipeline_schedule_id);
      if (!(await mayRunOn({ db, project, caller }, ref))) throw forbidden();
      const who = `schedule:${id} user:${caller.id}`;
      await refuseTooOften(db, { name: 'play_pipeline_schedule', who, most: 1, window_s: 60 });
      const requested_as = `play ${id} ${crypto.randomUUID()}`;
      await runSchedule.enqueue(db, { schedule_id: id, played_by: caller.id, requested_as });
      return { message: '201 Created' };
    },
  }),
];
