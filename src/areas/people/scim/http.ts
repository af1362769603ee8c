/** The doors of SCIM 2.0: an identity provider provisions accounts (docs/reference/scim.md). */
import type { FastifyReply } from 'fastify';
import { countGuess, countRequest } from '../../../access/index.ts';
import { actingAs, addressOf } from '../../../foundation/actors.ts';
import {
  ApiError,
  type Caller,
  type DoorCall,
  type Doorway,
  door,
  type ErrorForm,
  type Identification,
  type Method,
  messageOf,
} from '../../../http/index.ts';
import { changeAccount, provision, removeAccount, scimActor } from './actions.ts';
import { presentList, presentUser, providerConfig, resourceTypes, root, schemaList } from './present.ts';
import { isScimToken, scimUser, scimUsers } from './queries.ts';
import { filterIn, patchIn, provisionedIn, rangeIn, ScimError, schemas } from './rules.ts';

interface ScimRequest {
  Params: { id: string };
  Querystring: Record<string, unknown>;
}
type Call = DoorCall<Caller, ScimRequest>;
/** A call with the token, and the provider whose identities the accounts have. */
interface Admitted extends Call {
  provider: string;
}

const mediaType = 'application/scim+json';
const guesses = { name: 'scim_token_guesses_from_address', most: 50, window_s: 600 };

const send = (reply: FastifyReply, body: object, status = 200): FastifyReply =>
  reply
    .code(status)
    .header('content-type', mediaType)
    .send(Buffer.from(JSON.stringify(body)));

/** @throws ScimError 401; ApiError 429 after many wrong tokens from an address */
async function checkToken({ services: { db }, request: { headers, ip } }: Call): Promise<void> {
  const [, token] = /^Bearer (\S{1,255})$/i.exec(headers.authorization ?? '') ?? [];
  if (token !== undefined) {
    if (await isScimToken(db, token)) return;
    await countGuess(db, { ...guesses, who: ip });
  }
  throw new ApiError(401, { message: 'The token is wrong' }, { 'www-authenticate': 'Bearer realm="SCIM"' });
}

async function admit(call: Call): Promise<Admitted> {
  await checkToken(call);
  const provider = call.services.sign_in.scim_provider;
  if (provider === undefined) throw new ScimError(404, 'The file of providers names no provider for SCIM');
  return { ...call, provider };
}

/** The uid in the path. @throws ScimError 404 for a text that none can be */
function uidIn({ request: { params } }: Call): string {
  if (params.id.includes('\0') || !params.id.isWellFormed()) throw new ScimError(404, 'User not found');
  return params.id;
}

async function list({ services, request: { query }, reply, provider }: Admitted) {
  const { filter, ...others } = query;
  const range = rangeIn(others);
  const condition = filter === undefined || filter === '' ? undefined : filterIn(String(filter));
  const { total, users } = await scimUsers(services.db, provider, condition, range);
  const shown = users.map((user) => presentUser(user, services.url));
  return send(reply, presentList(shown, total, range.start));
}

async function show(call: Admitted) {
  const { services, reply, provider } = call;
  const user = await scimUser(services.db, provider, uidIn(call));
  if (!user) throw new ScimError(404, 'User not found');
  return send(reply, presentUser(user, services.url));
}

/** Runs a change as the program that provisions accounts. @param only the event that stands for all that is done */
const asScim = <T>({ request }: Call, work: () => T, only?: readonly string[]): T =>
  actingAs({ ...scimActor, ip: addressOf(request.ip), only }, work);

async function create(call: Admitted) {
  const { services, fields, reply, provider } = call;
  const given = provisionedIn(fields);
  const user = await asScim(call, () => provision(services.db, provider, given), ['user_provisioned_by_scim']);
  const shown = presentUser(user, services.url);
  return send(reply.header('location', shown.meta.location), shown, 201);
}

async function change(call: Admitted) {
  const patch = patchIn(call.fields);
  await asScim(call, () => changeAccount(call.services.db, call.provider, uidIn(call), patch));
  return call.reply.code(204).send();
}

async function remove(call: Admitted) {
  await asScim(call, () => removeAccount(call.services.db, call.provider, uidIn(call)));
  return call.reply.code(204).send();
}

function refuseReplacing(): never {
  throw new ScimError(501, 'PUT is not supported: use PATCH');
}

const fixed = (body: (url: string) => object) => (call: Admitted) => send(call.reply, body(call.services.url));
const listOf = (resources: (url: string) => readonly object[]) =>
  fixed((url) => {
    const all = resources(url);
    return presentList(all, all.length, 1);
  });

/** The token is no user's: requests without it count as those of strangers. */
const who: Identification<Caller, ScimRequest> = {
  carries: () => true,
  identify: async () => undefined,
  scopes: () => undefined,
  count: (services, counting) => countRequest(services, {}, counting),
};

const doors: readonly { method: Method; path: string; handle: (call: Admitted) => unknown }[] = [
  { method: 'GET', path: '/Users', handle: list },
  { method: 'GET', path: '/Users/:id', handle: show },
  { method: 'POST', path: '/Users', handle: create },
  { method: 'PATCH', path: '/Users/:id', handle: change },
  { method: 'PUT', path: '/Users/:id', handle: refuseReplacing },
  { method: 'DELETE', path: '/Users/:id', handle: remove },
  { method: 'GET', path: '/ServiceProviderConfig', handle: fixed(providerConfig) },
  { method: 'GET', path: '/ResourceTypes', handle: listOf(resourceTypes) },
  { method: 'GET', path: '/Schemas', handle: listOf(schemaList) },
];

const scimForm: ErrorForm = {
  write: (refusal, _request, reply) => {
    const kind = refusal instanceof ScimError ? refusal.kind : undefined;
    const detail = messageOf(refusal);
    const status = String(refusal.status);
    return send(reply, { schemas: [schemas.error], detail, status, ...(kind && { scimType: kind }) }, refusal.status);
  },
};

export const scimDoorway: Doorway = {
  cost: 'usual',
  doors: doors.map(({ method, path, handle }) =>
    door<Caller, ScimRequest>({
      ...{ method, url: `${root}${path}`, who },
      handle: async (call) => handle(await admit(call)),
    }),
  ),
  errors: () => scimForm,
};
