/** Triggers: tokens with which programs start pipelines (docs/reference/triggers.md). */
import { newTokenValue, projectRole, tokenDigest } from '../../../access/index.ts';
import { stamped } from '../../../db/index.ts';
import {
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
import { Description } from '../running/parameters.ts';
import { PipelineTrigger, presentTrigger } from './present.ts';
import { tokenPurpose, triggerOf, triggersOf } from './queries.ts';

const path = '/projects/:id/triggers';
const single = { trigger_id: Id };
const maintainer = projectRole('maintainer', { feature: ['repository', 'builds'] });
const missing = '404 Trigger Not Found';

export const triggerRoutes = [
  get(path, {
    operation: 'listPipelineTriggers',
    summary: 'List the triggers of a project, oldest first',
    access: maintainer,
    input: paging,
    returns: pageOf(PipelineTrigger),
    holds_secrets: true,
    handle: async ({ project, caller, input, ...services }) => {
      const page = await paginate(services.db, triggersOf(services.db, project.id).orderBy('id'), input);
      return mapPage(page, (row) => presentTrigger({ ...services, caller }, row));
    },
  }),
  get(`${path}/:trigger_id`, {
    operation: 'getPipelineTrigger',
    summary: 'Get a trigger',
    access: maintainer,
    input: single,
    returns: one(PipelineTrigger),
    holds_secrets: true,
    refusals: { 404: missing },
    handle: async ({ project, caller, input, ...services }) =>
      presentTrigger({ ...services, caller }, await triggerOf(services.db, project.id, input.trigger_id)),
  }),
  post(path, {
    operation: 'createPipelineTrigger',
    summary: 'Create a trigger, which starts pipelines in the name of the caller',
    access: maintainer,
    input: { description: Description() },
    returns: one(PipelineTrigger),
    holds_secrets: true,
    handle: async ({ project, caller, input, ...services }) => {
      const { db, secrets } = services;
      const token = newTokenValue('glptt-');
      const { id } = await db
        .insertInto('pipeline_triggers')
        .values({
          ...{ project_id: project.id, owner_id: caller.id, description: input.description },
          ...{ token: secrets.seal(tokenPurpose, token), token_digest: tokenDigest(token) },
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      return presentTrigger({ ...services, caller }, await triggerOf(db, project.id, id));
    },
  }),
  put(`${path}/:trigger_id`, {
    operation: 'updatePipelineTrigger',
    summary: 'Update a trigger of the caller',
    access: maintainer,
    input: { ...single, description: optional(Description()) },
    returns: one(PipelineTrigger),
    holds_secrets: true,
    refusals: { 403: '403 Forbidden', 404: missing },
    handle: async ({ project, caller, input, ...services }) => {
      const { trigger_id, ...changes } = input;
      const { id, owner } = await triggerOf(services.db, project.id, trigger_id);
      if (owner.id !== caller.id) throw forbidden();
      if (changes.description !== undefined)
        await services.db.updateTable('pipeline_triggers').set(stamped(changes)).where('id', '=', id).execute();
      return presentTrigger({ ...services, caller }, await triggerOf(services.db, project.id, id));
    },
  }),
  del(`${path}/:trigger_id`, {
    operation: 'deletePipelineTrigger',
    summary: 'Delete a trigger',
    access: maintainer,
    input: single,
    conditional: true,
    returns: nothing,
    refusals: { 404: missing },
    handle: async ({ db, project, input, unmodified_since }) => {
      const { id, updated_at } = await triggerOf(db, project.id, input.trigger_id);
      checkUnmodified(updated_at, unmodified_since);
      await deleteFound(db, 'pipeline_triggers', id, 'Trigger');
    },
  }),
];
