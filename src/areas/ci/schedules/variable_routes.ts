/** The variables that the pipelines of a schedule get. */
import { Type } from 'typebox';
import { projectRole } from '../../../access/index.ts';
import { allOptional, del, found, Id, one, post, put, type Services } from '../../../http/index.ts';
import { givenVariable, PipelineVariable, VariableKind, VariableValue } from '../running/parameters.ts';
import { managedSchedule } from './access.ts';
import { addVariable, changeVariable, refusedTexts } from './actions.ts';
import { variablesOf } from './queries.ts';

const path = '/projects/:id/pipeline_schedules/:pipeline_schedule_id/variables';
const single = { pipeline_schedule_id: Id };
const developer = projectRole('developer', { feature: ['repository', 'builds'] });
const missing = '404 Pipeline Schedule Not Found';
const missingVariable = '404 Variable Not Found';

/** @throws ApiError 404 */
const variableOf = async (services: Pick<Services, 'db' | 'secrets'>, schedule_id: number, key: string) =>
  found(
    'Variable',
    (await variablesOf(services, schedule_id)).find((each) => each.key === key),
  );

export const scheduleVariableRoutes = [
  post(path, {
    operation: 'createPipelineScheduleVariable',
    summary: 'Add a variable to a pipeline schedule',
    access: developer,
    input: { ...single, ...givenVariable },
    returns: one(PipelineVariable),
    holds_secrets: true,
    refusals: {
      400: [`key: ${refusedTexts.taken}`, `base: ${refusedTexts.manyVariables}`],
      403: '403 Forbidden',
      404: missing,
    },
    handle: async ({ project, caller, input, ...services }) => {
      const { pipeline_schedule_id, ...variable } = input;
      const { id } = await managedSchedule({ db: services.db, project, caller }, pipeline_schedule_id);
      await addVariable(services, id, variable);
      return variableOf(services, id, variable.key);
    },
  }),
  put(`${path}/:key`, {
    operation: 'updatePipelineScheduleVariable',
    summary: 'Update a variable of a pipeline schedule',
    access: developer,
    input: { ...single, key: Type.String(), ...allOptional({ value: VariableValue, variable_type: VariableKind }) },
    returns: one(PipelineVariable),
    holds_secrets: true,
    refusals: { 403: '403 Forbidden', 404: [missing, missingVariable] },
    handle: async ({ project, caller, input, ...services }) => {
      const { pipeline_schedule_id, key, ...changes } = input;
      const { id } = await managedSchedule({ db: services.db, project, caller }, pipeline_schedule_id);
      await changeVariable(services, id, key, changes);
      return variableOf(services, id, key);
    },
  }),
  del(`${path}/:key`, {
    operation: 'deletePipelineScheduleVariable',
    summary: 'Delete a variable of a pipeline schedule',
    access: developer,
    input: { ...single, key: Type.String() },
    returns: { ...one(PipelineVariable), status: 200 },
    holds_secrets: true,
    refusals: { 403: '403 Forbidden', 404: [missing, missingVariable] },
    handle: async ({ project, caller, input, ...services }) => {
      const { id } = await managedSchedule({ db: services.db, project, caller }, input.pipeline_schedule_id);
      const variable = await variableOf(services, id, input.key);
      const query = services.db.deleteFrom('pipeline_schedule_variables').where('schedule_id', '=', id);
      found('Variable', await query.where('key', '=', input.key).returning('id').executeTakeFirst());
      return variable;
    },
  }),
];
