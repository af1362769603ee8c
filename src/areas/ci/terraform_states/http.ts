/** What Terraform and OpenTofu call as a backend of the kind `http` (docs/reference/terraform_states.md#the-backend). */
import type { FastifyReply } from 'fastify';
import { authenticate, callerOfBasic, countRequest } from '../../../access/index.ts';
import {
  actorOf,
  badParam,
  badRequest,
  type Caller,
  type DescribedDoor,
  type DoorCall,
  type Doorway,
  door,
  type Identification,
  jsonForm,
  scopesFor,
  wholeBody,
} from '../../../http/index.ts';
import { stateIn } from '../../../state_files/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { type Granted, grantedFor, type Wish } from './access.ts';
import { deleteState, lockedText, lockState, storeVersion, takenText, unlockState } from './actions.ts';
import { contentOf, stateNamed, versionOf } from './queries.ts';
import { largestState_bytes, lockIn, namePattern } from './rules.ts';

interface StateRequest {
  Params: { id: string; name: string };
  Querystring: Record<string, unknown>;
}
type Call = DoorCall<Caller, StateRequest>;

const noStateText = '400 Bad request - The body is no state with a serial';
const digestText = '400 Bad request - Content-MD5 does not fit the body';
const noLockText = '400 Bad request - The body is no lock with an ID';

/** @throws ApiError 400, 401, 403, 404 */
async function granted({ caller, request, services }: Call, wish: Wish): Promise<Granted & { name: string }> {
  const { id, name } = request.params;
  const allowed = await grantedFor(services.db, caller, id, wish);
  if (!namePattern.test(name)) throw badParam('name', 'is invalid');
  return { ...allowed, name };
}

/** A parameter of the query that is a text; undefined if it is left out. @throws ApiError 400 */
function textIn({ request }: Call, name: string): string | undefined {
  const value = request.query[name];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw badParam(name, 'is invalid');
  return value;
}

async function send(call: Call): Promise<FastifyReply> {
  const { services, reply } = call;
  const { project, name } = await granted(call, 'read');
  const { id } = await stateNamed(services.db, project.id, name);
  const version = await versionOf(services.db, id);
  if (!version) return reply.code(204).send();
  return reply.header('content-type', 'application/octet-stream').send(await contentOf(services, version));
}

async function receive(call: Call): Promise<FastifyReply> {
  const { services, request, reply } = call;
  const where = await granted(call, 'write');
  const { max_terraform_state_size_bytes: most } = await settingsOf(services.db);
  const content = await wholeBody(request, most || largestState_bytes);
  if (content.length === 0) return reply.code(204).send();
  const digest = request.headers['content-md5'] as string | undefined;
  const { serial, fits } = await stateIn({ content, digest }, where.project.id);
  if (!fits) throw badRequest(digestText);
  if (serial === undefined) throw badRequest(noStateText);
  const given = textIn(call, 'serial');
  if (given !== undefined && given !== String(serial)) throw badParam('serial', 'is invalid');
  await storeVersion(services, where, { serial, content, lock_id: textIn(call, 'ID') });
  return reply.code(200).send();
}

async function remove(call: Call): Promise<FastifyReply> {
  const { project, name } = await granted(call, 'write');
  await deleteState(call.services.db, { project_id: project.id, name });
  return call.reply.code(200).send();
}

const mostOfLock_bytes = 65_536;

async function takeLock(call: Call): Promise<FastifyReply> {
  const where = await granted(call, 'write');
  const lock = lockIn(await wholeBody(call.request, mostOfLock_bytes));
  if (!lock) throw badRequest(noLockText);
  await lockState(call.services.db, where, lock);
  return call.reply.code(200).send();
}

/** The ID of the lock is in the body, or in the query. Without one, whoever holds it loses it. */
async function releaseLock(call: Call): Promise<FastifyReply> {
  const { services, reply } = call;
  const { project, name } = await granted(call, 'write');
  const body = await wholeBody(call.request, mostOfLock_bytes);
  const lock = body.length === 0 ? undefined : lockIn(body);
  if (body.length > 0 && !lock && body.toString().trim() !== '{}') throw badRequest(noLockText);
  const id = lock?.id ?? textIn(call, 'ID');
  if (id === undefined) await granted(call, 'force');
  const by = actorOf(call.caller, call.request.ip);
  await unlockState(services.db, { project_id: project.id, name }, id, by);
  return reply.code(200).send();
}

const tag = 'Terraform states';
const refused = {
  400: '`name is invalid`',
  401: '`401 Unauthorized`',
  403: '`403 Forbidden`',
  404: '`404 Project Not Found`; `404 Not found`: there is no such state',
};
const path = '/projects/:id/terraform/state/:name';
const common = { tag, text_parameters: ['id', 'name'], body_types: [], needs_token: true } as const;
const description =
  'Besides the other ways, the token can be the password of HTTP Basic authentication, with any username; that of a job with `gitlab-ci-token`.';
const locked = { 409: `\`${lockedText}\`` };

/** The endpoints with their documentation and handlers. */
const doors = [
  {
    method: 'GET',
    path,
    handle: send,
    description: {
      ...{ ...common, description, operation: 'getTerraformState', summary: 'Download the newest version of a state' },
      responses: { 200: 'The state', 204: 'It has no version yet', ...refused },
    },
  },
  {
    method: 'POST',
    path,
    handle: receive,
    description: {
      ...{ ...common, description, operation: 'updateTerraformState', summary: 'Store a version of a state' },
      query_parameters: ['ID', 'serial'],
      body_types: ['application/json'],
      responses: {
        200: 'It is stored, or was before',
        204: 'The body is empty: nothing is stored',
        ...refused,
        ...locked,
        400: [refused[400], ...[noStateText, digestText, takenText].map((text) => `\`${text}\``)].join('; '),
        413: '`413 Request Entity Too Large`',
      },
    },
  },
  {
    method: 'DELETE',
    path,
    handle: remove,
    description: {
      ...{ ...common, description, operation: 'deleteTerraformState', summary: 'Delete a state with its versions' },
      responses: { 200: 'It is deleted', ...refused, ...locked },
    },
  },
  {
    method: 'POST',
    path: `${path}/lock`,
    handle: takeLock,
    description: {
      ...{ ...common, description, operation: 'lockTerraformState', summary: 'Lock a state' },
      body_types: ['application/json'],
      responses: {
        200: 'It is locked',
        ...refused,
        400: `${refused[400]}; \`${noLockText}\``,
        409: 'It is locked already. The body is the lock that is there',
        413: '`413 Request Entity Too Large`: more than 64 KiB',
      },
    },
  },
  {
    method: 'DELETE',
    path: `${path}/lock`,
    handle: releaseLock,
    description: {
      ...{ ...common, operation: 'unlockTerraformState', summary: 'Unlock a state' },
      description: `${description} Without an \`ID\`, in the body or the query, it is unlocked whoever holds the lock: Maintainers may do that.`,
      query_parameters: ['ID'],
      body_types: ['application/json'],
      responses: { 200: 'It is unlocked', ...refused, ...locked, 400: `${refused[400]}; \`${noLockText}\`` },
    },
  },
] as const;

const identification = (operation: string, isReading: boolean): Identification<Caller, StateRequest> => ({
  carries: () => true,
  identify: (services, request) =>
    /^Basic /i.test(request.headers.authorization ?? '')
      ? callerOfBasic(services, request, { job_scopes: ['api'] })
      : authenticate(request, request.query, services, { operation }),
  scopes: () => scopesFor({ method: isReading ? 'GET' : 'POST' }),
  count: (services, counting) => countRequest(services, {}, counting),
});

export const terraformStateDoors: readonly DescribedDoor[] = doors;

export const terraformStateDoorway: Doorway = {
  cost: 'upload',
  doors: doors.map(({ method, path: url, handle, description: { operation } }) =>
    door<Caller, StateRequest>({
      ...{ method, url: `/api/v4${url}`, handle, who: identification(operation, method === 'GET') },
      ...(method === 'POST' && url === path ? {} : { cost: 'usual' }),
    }),
  ),
  errors: () => jsonForm,
  bodies: 'stream',
};
