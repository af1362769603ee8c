/** What runners say of themselves: registering, proving their token, leaving (docs/reference/runners.md#protocol). The callers are no users. */
import type { FastifyRequest } from 'fastify';
import type { Static, TObject, TProperties } from 'typebox';
import { countRequest, tooManyAttemptsText } from '../../../access/index.ts';
import {
  ApiError,
  apiRoot,
  type Caller,
  type DescribedDoor,
  type DoorCall,
  type Doorway,
  door,
  forbidden,
  type Identification,
  inputReader,
  jsonForm,
  notFound,
  type Rule,
} from '../../../http/index.ts';
import { type MadeRunner, makeRunner, resetToken } from './actions.ts';
import { refuseToken } from './call_checks.ts';
import { touchManager } from './manager_actions.ts';
import {
  managerParameters,
  registrationParameters,
  SystemId,
  settingRules,
  settingsIn,
  tokenParameter,
} from './parameters.ts';
import { placeToRegister, type Runner, runnerOf } from './queries.ts';
import { texts } from './rules.ts';

interface RunnerRequest {
  Querystring: Record<string, unknown>;
}
type Call = DoorCall<Caller, RunnerRequest>;

const disallowed = '410 Gone - runner registration disallowed';
const unknown = '403 Forbidden - invalid token supplied';

/**
 * Reads what a runner sends: query, body and the header with its token.
 * @throws (the returned function) ApiError 400
 */
export function runnerReader<P extends TProperties>(input: P, rules: readonly Rule[] = []) {
  const read = inputReader({ input, rules });
  return (request: Pick<FastifyRequest, 'headers' | 'query'>, fields: Call['fields']): Static<TObject<P>> => {
    const { 'runner-token': header } = request.headers;
    const parameters = { ...(request.query as Call['fields']), ...fields };
    // No parameter of a runner needs a plan.
    return read({ ...parameters, token: parameters.token ?? header }, 'free');
  };
}

const [readRegistration, readToken, readManager, readMachine] = [
  runnerReader(registrationParameters, settingRules),
  runnerReader(tokenParameter),
  runnerReader(managerParameters),
  runnerReader({ ...tokenParameter, system_id: SystemId }),
];

/** @throws ApiError 403, 429 */
async function runnerBy({ services, request }: Call, token: string, system_id?: string): Promise<Runner> {
  const runner = await runnerOf(services, token, system_id);
  return runner ?? refuseToken(services.db, request.ip, forbidden());
}

const answer = ({ reply }: Call, status: number, body: object) =>
  reply
    .code(status)
    .headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })
    .send(Buffer.from(JSON.stringify(body)));

const shown = ({ id, token, token_expires_at }: MadeRunner) => ({ id, token, token_expires_at });

async function register(call: Call) {
  const { services, request, fields } = call;
  const { token, info, ...given } = readRegistration(request, fields);
  const place = await placeToRegister(services, token);
  if (!place) return refuseToken(services.db, request.ip, forbidden('invalid token supplied'));
  if (!place.allows) throw new ApiError(410, { message: disallowed });
  const { namespace_id, project_id } = place;
  const settings = settingsIn(given);
  return answer(
    call,
    201,
    shown(await makeRunner(services.db, { namespace_id, project_id, created_by_id: null, settings })),
  );
}

async function verify(call: Call) {
  const { services, request, fields } = call;
  const { token, system_id, info } = readManager(request, fields);
  const runner = await runnerBy(call, token, system_id);
  await touchManager(services, runner, { system_id, info, ip: request.ip });
  return answer(call, 200, { id: runner.id, token, token_expires_at: runner.token_expires_at });
}

async function replaceToken(call: Call) {
  const { token } = readToken(call.request, call.fields);
  const made = await resetToken(call.services.db, await runnerBy(call, token));
  return answer(call, 201, { token: made.token, token_expires_at: made.token_expires_at });
}

async function leave(call: Call) {
  const { token } = readToken(call.request, call.fields);
  const { id } = await runnerBy(call, token);
  await call.services.db.deleteFrom('runners').where('id', '=', id).execute();
  return call.reply.code(204).send();
}

async function leaveMachine(call: Call) {
  const { token, system_id } = readMachine(call.request, call.fields);
  const { manager } = await runnerBy(call, token, system_id);
  if (!manager) throw notFound();
  await call.services.db.deleteFrom('runner_managers').where('id', '=', manager.id).execute();
  return call.reply.code(204).send();
}

/** Runners do without a router when there is none. */
async function refuseRouter(call: Call) {
  await runnerBy(call, readToken(call.request, call.fields).token);
  throw new ApiError(501, { message: '501 Not Implemented' });
}

/** Who registers is counted like other callers without a credential, so that registration tokens cannot be guessed. */
const counted: Identification<Caller, RunnerRequest> = {
  identify: async () => undefined,
  scopes: () => undefined,
  count: (services, counting) => countRequest(services, {}, counting),
};

const described = {
  tag: 'Runners',
  body_types: ['application/json', 'application/x-www-form-urlencoded'],
  query_parameters: ['token'],
};
const refusedToken = '`403 Forbidden`: there is no such token, or it has expired';
const badInput = 'A parameter is missing or wrong';
const tooMany = `\`${tooManyAttemptsText}\`: too many wrong tokens came from the address`;
const tokenPlace = 'The token is a parameter, or in the header `RUNNER-TOKEN`.';

const doors = [
  {
    method: 'POST',
    path: '/runners',
    take: register,
    who: counted,
    description: {
      ...described,
      operation: 'registerRunner',
      summary: 'Register a runner with a registration token',
      description: `Parameters: \`${Object.keys(registrationParameters).join('`, `')}\`.`,
      responses: {
        201: '`id`, `token` and `token_expires_at` of the runner',
        400: `A parameter is missing or wrong; \`tags_list: ${texts.untagged}\`, \`maximum_timeout: ${texts.timeout}\``,
        403: `\`${unknown}\``,
        410: `\`${disallowed}\``,
        429: tooMany,
      },
    },
  },
  {
    method: 'POST',
    path: '/runners/verify',
    take: verify,
    description: {
      ...described,
      operation: 'verifyRunner',
      summary: 'Check the token of a runner',
      description: `${tokenPlace} \`system_id\` and \`info\` say with which machine it calls.`,
      responses: { 200: '`id`, `token` and `token_expires_at`', 400: badInput, 403: refusedToken, 429: tooMany },
    },
  },
  {
    method: 'POST',
    path: '/runners/reset_authentication_token',
    take: replaceToken,
    description: {
      ...described,
      operation: 'resetOwnRunnerToken',
      summary: 'Replace the token of a runner, which calls',
      description: `${tokenPlace} It ends at once.`,
      responses: { 201: '`token` and `token_expires_at`', 400: badInput, 403: refusedToken, 429: tooMany },
    },
  },
  {
    method: 'DELETE',
    path: '/runners',
    take: leave,
    description: {
      ...described,
      operation: 'deleteRunnerByToken',
      summary: 'Delete the runner that calls',
      description: tokenPlace,
      responses: { 204: 'It is deleted', 400: badInput, 403: refusedToken, 429: tooMany },
    },
  },
  {
    method: 'DELETE',
    path: '/runners/managers',
    take: leaveMachine,
    description: {
      ...described,
      operation: 'deleteRunnerManager',
      summary: 'Forget a machine of the runner that calls',
      description: `${tokenPlace} \`system_id\` names the machine.`,
      responses: { 204: 'It is forgotten', 400: badInput, 403: refusedToken, 429: tooMany, 404: '`404 Not found`' },
    },
  },
  {
    method: 'GET',
    path: '/runners/router/discovery',
    take: refuseRouter,
    description: {
      ...described,
      body_types: [],
      operation: 'discoverRunnerRouter',
      summary: 'Ask for the router of jobs, which there is not',
      description: tokenPlace,
      responses: { 400: badInput, 403: refusedToken, 429: tooMany, 501: '`501 Not Implemented`' },
    },
  },
] as const;

export const runnerDoors: readonly DescribedDoor[] = doors;

export const runnerDoorway: Doorway = {
  cost: 'usual',
  doors: doors.map((each) =>
    door<Caller, RunnerRequest>({
      method: each.method,
      url: `${apiRoot}${each.path}`,
      ...('who' in each ? { who: each.who } : {}),
      handle: each.take,
    }),
  ),
  errors: () => jsonForm,
};
