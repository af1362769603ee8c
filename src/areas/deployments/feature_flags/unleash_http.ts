/** The HTTP endpoints for Unleash SDKs (docs/reference/feature_flags.md#unleash). An application is authenticated by the instance id of its project only. */
import { refuseTooOften, tooOftenText } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { cacheOf } from '../../../foundation/caches.ts';
import {
  badParams,
  type Caller,
  type DescribedDoor,
  type DoorCall,
  type Doorway,
  door,
  jsonForm,
  mismatch,
  namesTag,
  unauthorized,
  wholeBody,
} from '../../../http/index.ts';
import { noteSeen } from './client_actions.ts';
import { type FlagSource, flagsFor, sourceFor } from './unleash_queries.ts';

interface UnleashRequest {
  Params: { project_id: string };
  Querystring: Record<string, unknown>;
}
type Call = DoorCall<Caller, UnleashRequest>;

const maximumBody_bytes = 256 * 1024;
const maximumSdk = 255;
const maximumEnvironment = 255;
const hour_ms = 3_600_000;

/** The value of a header, or else of a parameter. */
function given({ request }: Call, header: string, parameter: string): string | undefined {
  const value = request.headers[header] ?? request.query[parameter];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * The project of the application.
 * @throws ApiError 401, 429
 */
async function identified(call: Call): Promise<FlagSource> {
  const { db, geo } = call.services;
  const source = await sourceFor(db, call.request.params.project_id, given(call, 'unleash-instanceid', 'instance_id'));
  if (!source) throw unauthorized();
  const { most, project_id } = source;
  // A secondary cannot write, so its replies are not counted.
  if (most > 0 && geo.role !== 'secondary')
    await refuseTooOften(db, { name: 'feature_flags_unleash', who: `project:${project_id}`, most, window_s: 60 });
  return source;
}

/** @throws ApiError 400 if the text cannot be the name of an environment */
function environmentOf(call: Call): string | undefined {
  const environment = given(call, 'unleash-appname', 'app_name');
  if (environment && (environment.length > maximumEnvironment || environment.includes('\0')))
    throw badParams('app_name is invalid');
  return environment;
}

const nothing = ({ reply }: Call) => reply.header('content-type', 'application/json').send(Buffer.from('null'));

async function greet(call: Call) {
  await identified(call);
  return nothing(call);
}

async function sendFlags(call: Call) {
  const { request, reply, services } = call;
  const source = await identified(call);
  const { body, etag } = await flagsFor(services.db, source, environmentOf(call));
  reply.headers({ etag, 'cache-control': 'max-age=0, private' });
  if (namesTag(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return reply.header('content-type', 'application/json').send(body);
}

/** @throws ApiError 400 for invalid JSON, 413 */
async function bodyOf({ request }: Call): Promise<unknown> {
  const content = await wholeBody(request, maximumBody_bytes);
  try {
    return JSON.parse(content.toString());
  } catch {
    throw badParams(mismatch);
  }
}

/** The SDK named in a registration; newer SDKs name it in a header of every request. */
function sdkOf({ request }: Call, body: unknown): string | undefined {
  const named = (body as { sdkVersion?: unknown } | null)?.sdkVersion ?? request.headers['unleash-sdk'];
  if (typeof named !== 'string' || named === '' || named.includes('\0') || !named.isWellFormed()) return undefined;
  return named.slice(0, maximumSdk).toWellFormed();
}

/** The projects whose applications were recorded within the last hour, by database: each application sends metrics every minute. */
const noted = new WeakMap<Database, ReturnType<typeof cacheOf<number, true>>>();

/** Accepts a registration or metrics. Only the time and the SDK are stored. */
async function takeNote(call: Call) {
  const { db } = call.services;
  const { project_id } = await identified(call);
  const sdk = sdkOf(call, await bodyOf(call));
  const known = noted.get(db) ?? cacheOf<number, true>(10_000, { ttl: hour_ms });
  noted.set(db, known);
  if (!known.has(project_id)) {
    await noteSeen(db, project_id, sdk);
    known.set(project_id, true);
  }
  return nothing(call);
}

const root = '/feature_flags/unleash/:project_id';
const described = {
  tag: 'Feature flags',
  text_parameters: ['project_id'],
  body_types: [],
  responses: {
    200: 'Success',
    401: '`401 Unauthorized`: there is no such project, it has no feature flags, or the instance id is not its own',
    429: `\`${tooOftenText}\``,
  },
};
const identity =
  'The instance id of the project is in the header `UNLEASH-INSTANCEID` or the parameter `instance_id`. Tokens are not looked at.';
const reading = {
  ...described,
  description: `${identity} The environment is in the header \`UNLEASH-APPNAME\` or the parameter \`app_name\`; without one, only strategies for all environments are sent.`,
  query_parameters: ['instance_id', 'app_name'],
  responses: {
    ...described.responses,
    200: '`version`, which is 1, and `features`, those with a strategy for the environment',
    304: 'The flags are those that `If-None-Match` names',
  },
};
const writing = {
  ...described,
  description: `${identity} Only the time and the SDK are kept.`,
  query_parameters: ['instance_id'],
  body_types: ['application/json'],
  responses: {
    ...described.responses,
    400: `\`${mismatch}\``,
    413: '`413 Request Entity Too Large`: more than 256 KiB',
  },
};

/** The endpoints with their documentation and handlers. */
const doors = [
  {
    method: 'GET',
    path: root,
    take: greet,
    description: {
      ...described,
      operation: 'greetUnleash',
      summary: 'Check the address that SDKs of Unleash are configured with',
      description: identity,
      query_parameters: ['instance_id'],
    },
  },
  {
    method: 'GET',
    path: `${root}/client/features`,
    take: sendFlags,
    description: { ...reading, operation: 'getUnleashFeatures', summary: 'Get the feature flags for an environment' },
  },
  {
    method: 'GET',
    path: `${root}/features`,
    take: sendFlags,
    description: {
      ...reading,
      operation: 'getOldUnleashFeatures',
      summary: 'Get the feature flags for an environment, for old SDKs',
    },
  },
  {
    method: 'POST',
    path: `${root}/client/register`,
    take: takeNote,
    description: { ...writing, operation: 'registerUnleashClient', summary: 'Announce an application' },
  },
  {
    method: 'POST',
    path: `${root}/client/metrics`,
    take: takeNote,
    description: { ...writing, operation: 'sendUnleashMetrics', summary: 'Send metrics of an application' },
  },
] as const;

export const unleashDoors: readonly DescribedDoor[] = doors;

export const unleashDoorway: Doorway = {
  cost: 'usual',
  doors: doors.map(({ method, path, take }) =>
    door<Caller, UnleashRequest>({ method, url: `/api/v4${path}`, handle: take }),
  ),
  errors: () => jsonForm,
  bodies: 'stream',
};
