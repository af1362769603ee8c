/** Starting pipelines with the token of a trigger or of a job (docs/reference/triggers.md#starting-a-pipeline). The token is a parameter, and stands for nobody elsewhere. */
import { sql } from 'kysely';
import { type TProperties, Type } from 'typebox';
import {
  callerInJob,
  callerOfJobToken,
  isJobToken,
  levels,
  mayRead,
  mayUse,
  type Project,
  projectFor,
  reasonForReadOnly,
} from '../../../access/index.ts';
import {
  ApiError,
  badParam,
  type Caller,
  type DescribedDoor,
  type DoorCall,
  type Doorway,
  declaredPart,
  door,
  forbidden,
  inputReader,
  jsonForm,
  notFound,
  optional,
  type Services,
  type Values,
} from '../../../http/index.ts';
import { PipelineDetail, pipelineReply } from '../../code/pipelines/index.ts';
import { givenVariable, Inputs, mostVariables } from '../running/parameters.ts';
import { createPipeline, startRefusals } from '../running/start_actions.ts';
import type { GivenVariable } from '../running/store_actions.ts';
import { triggerWith } from './queries.ts';

interface TriggerRequest {
  Params: { id: string; ref?: string };
  Querystring: Values;
}
type Call = DoorCall<Caller, TriggerRequest>;

const input = {
  token: Type.String({ minLength: 1 }),
  ref: Type.String({ minLength: 1 }),
  inputs: optional(Inputs),
} satisfies TProperties;
const read = inputReader({ input });
const readVariable = inputReader({ input: givenVariable });

const shown = declaredPart(PipelineDetail);

const notTextsText = 'needs to be a map of key-valued strings';

/** @throws ApiError 400 */
function variablesIn(given: unknown): GivenVariable[] {
  if (given === undefined) return [];
  const entries =
    typeof given === 'object' && given !== null && !Array.isArray(given) ? Object.entries(given) : undefined;
  if (!entries?.every(([, value]) => typeof value === 'string')) throw badParam('variables', notTextsText);
  if (entries.length > mostVariables) throw badParam('variables', `must have at most ${mostVariables} entries`);
  return entries.map(([key, value]) => ({
    ...readVariable({ key, value }, 'free'),
    variable_type: 'env_var' as const,
  }));
}

/** In whose name a token starts pipelines of a project. */
interface Starter {
  caller: Caller;
  project: Project;
  /** Of the pipelines. */
  source: 'trigger' | 'pipeline';
}

/** @throws ApiError 403 unless the builds of the project are there for the starter */
function refuseUnusable(project: Project): void {
  if (!mayUse(project, 'repository') || !mayUse(project, 'builds')) throw forbidden();
  if (project.read_only) throw forbidden(reasonForReadOnly(project));
}

/**
 * The user of the job with a token.
 * @throws ApiError 401, 403, 404
 */
async function jobStarter(services: Services, id: string, token: string): Promise<Starter> {
  const caller = await callerOfJobToken(services, token, ['api']).catch((error: unknown) => {
    throw error instanceof ApiError && error.status === 401 ? notFound() : error;
  });
  const project = await projectFor(services.db, caller, id);
  if (!project || !mayRead(caller, project)) throw notFound();
  if (project.access_level < levels.developer) throw forbidden();
  refuseUnusable(project);
  return { caller, project, source: 'pipeline' };
}

/**
 * The owner of the trigger with a token, with the rights that they have now, or the user of the job with one.
 * @throws ApiError 403, 404
 */
async function starterOf(services: Services, id: string, token: string): Promise<Starter> {
  if (isJobToken(token)) return jobStarter(services, id, token);
  const trigger = await triggerWith(services.db, token);
  const caller = trigger && (await callerInJob(services, trigger.owner_id));
  const project = caller && (await projectFor(services.db, caller, id));
  if (!trigger || !caller || project?.id !== trigger.project_id) throw notFound();
  refuseUnusable(project);
  await services.db
    .updateTable('pipeline_triggers')
    .set({ last_used: sql<string>`now()` })
    .where('id', '=', trigger.id)
    .execute();
  return { caller, project, source: 'trigger' };
}

async function start({ services, request, reply, fields }: Call) {
  const { token, ...sent }: Values = {
    ...request.query,
    ...fields,
    ...(request.params.ref && { ref: request.params.ref }),
  };
  const { ref, inputs, token: given } = read({ token, ...sent }, 'free');
  const variables = variablesIn(sent.variables);
  const { caller, project, source } = await starterOf(services, request.params.id, given);
  const payload = { key: 'CI_TRIGGER_PAYLOAD', value: JSON.stringify(sent), variable_type: 'file' as const };
  const id = await createPipeline(
    services,
    { project, caller },
    {
      ...{ source, ref, variables: [...variables, payload], ...(inputs && { inputs }) },
      predefined: { CI_PIPELINE_TRIGGERED: 'true' },
    },
  );
  const body = shown(await pipelineReply(services, project, id));
  return reply.code(201).header('content-type', 'application/json').send(JSON.stringify(body));
}

const description = {
  tag: 'Triggers',
  text_parameters: ['id', 'ref'],
  query_parameters: ['token', 'ref'],
  body_types: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
  description:
    'The parameters are `token`, `ref`, `variables[KEY]` and `inputs`, in the query or the body. Tokens of users are not looked at. The whole of it is in the file variable `CI_TRIGGER_PAYLOAD`.',
  responses: {
    201: 'The pipeline, as `GET /projects/:id/pipelines/:pipeline_id` has it',
    400: [`\`variables ${notTextsText}\``, ...startRefusals.map((text) => `\`base: ${text}\``)].join('; '),
    403: '`403 Forbidden`: who the token acts for may not use the pipelines of the project, or it is read-only',
    404: '`404 Not found`: there is no such project, or the token is none that starts something in it',
    413: '`413 Request Entity Too Large`: more than 64 KiB',
  },
};

const doors = [
  {
    method: 'POST',
    path: '/projects/:id/trigger/pipeline',
    description: {
      ...description,
      operation: 'triggerPipeline',
      summary: 'Start a pipeline with the token of a trigger or job',
    },
  },
  {
    method: 'POST',
    path: '/projects/:id/ref/:ref/trigger/pipeline',
    description: {
      ...description,
      operation: 'triggerPipelineOfRef',
      summary: 'Start a pipeline of a branch or tag with the token of a trigger or job',
      query_parameters: ['token'],
    },
  },
] as const;

export const triggerDoors: readonly DescribedDoor[] = doors;

export const triggerDoorway: Doorway = {
  cost: 'usual',
  doors: doors.map(({ method, path }) =>
    door<Caller, TriggerRequest>({ method, url: `/api/v4${path}`, handle: start }),
  ),
  errors: () => jsonForm,
};
