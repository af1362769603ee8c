/** The doors of OAuth and OpenID Connect, besides the pages that ask people (docs/reference/oauth_tokens.md). */
import type { FastifyReply } from 'fastify';
import { authenticate, countRequest, outsideOf } from '../../../access/index.ts';
import {
  ApiError,
  type Caller,
  type DoorCall,
  type Doorway,
  door,
  type Identification,
  invalidToken,
  jsonForm,
} from '../../../http/index.ts';
import { publishedKeys } from '../../instance/signing_keys/index.ts';
import { revokeOauthToken } from '../oauth_tokens/actions.ts';
import { countingToken, describe } from '../oauth_tokens/queries.ts';
import { type TokenRequest, tokenFor, waitForPerson } from './actions.ts';
import { invalidClient, type Sender, senderOf } from './client_checks.ts';
import { personOf } from './queries.ts';
import { configurationOf, paths, userinfoOf } from './rules.ts';

interface Request {
  Querystring: Record<string, unknown>;
}

type Call = DoorCall<Caller, Request>;

/** A text that PostgreSQL accepts; any other value counts as omitted. */
const textIn = ({ fields, request: { query } }: Call, name: string): string => {
  const value = fields[name] ?? query[name];
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed() ? value : '';
};

const senderIn = (call: Call): Sender => ({
  authorization: call.request.headers.authorization,
  client_id: textIn(call, 'client_id'),
  client_secret: textIn(call, 'client_secret'),
});

const requestIn = (call: Call): TokenRequest => ({
  parameter: (name) => textIn(call, name),
  sender: senderIn(call),
  address: call.request.ip,
  outside: outsideOf(call.request),
});

const who: Identification<Caller, Request> = {
  identify: (services, request, fields) => authenticate(request, { ...fields, ...request.query }, services),
  scopes: () => undefined,
  count: (services, counting) => countRequest(services, {}, counting),
};

const uncached = { 'cache-control': 'no-store', pragma: 'no-cache' };

const sendPublic = (reply: FastifyReply, body: object) =>
  reply.header('content-type', 'application/json').send(Buffer.from(JSON.stringify(body)));
const send = ({ reply }: Call, body: object) => sendPublic(reply.headers(uncached), body);

async function introspect(call: Call) {
  const { services } = call;
  const client = await senderOf(services, senderIn(call));
  // One that keeps no secret cannot prove that a token is its own.
  if (!client?.confidential) throw invalidClient();
  const token = await countingToken(services.db, client.id, textIn(call, 'token'));
  if (!token) return { active: false };
  const { scopes, username, user_id, exp, iat } = token;
  const about = { client_id: client.uid, username, sub: String(user_id), iss: services.url };
  return { active: true, scope: scopes.join(' '), token_type: 'Bearer', exp, iat, ...about };
}

async function userinfo(call: Call) {
  const { services, caller } = call;
  if (!caller?.token.scopes.includes('openid')) {
    const { body } = invalidToken('The access token is invalid');
    throw new ApiError(401, body, {
      'www-authenticate': 'Bearer realm="Coppice", error="invalid_token", scope="openid"',
    });
  }
  return send(call, userinfoOf(await personOf(services, caller.id), caller.token.scopes));
}

const told = (url: string) =>
  door<Caller, Request>({
    method: 'GET',
    url,
    is_text: true,
    handle: ({ services, reply }) => sendPublic(reply, configurationOf(services.url)),
  });

export const oauthDoorway: Doorway = {
  cost: 'usual',
  doors: [
    door<Caller, Request>({
      method: 'POST',
      url: paths.token,
      handle: async (call) => send(call, await tokenFor(call.services, requestIn(call))),
    }),
    door<Caller, Request>({
      method: 'POST',
      url: paths.authorize_device,
      handle: async (call) => send(call, await waitForPerson(call.services, requestIn(call))),
    }),
    door<Caller, Request>({
      method: 'POST',
      url: paths.revoke,
      handle: async (call) => {
        const client = await senderOf(call.services, senderIn(call), { mayBeUnknown: true });
        await revokeOauthToken(call.services.db, textIn(call, 'token'), client?.id ?? null);
        return send(call, {});
      },
    }),
    door<Caller, Request>({
      method: 'POST',
      url: paths.introspect,
      handle: async (call) => send(call, await introspect(call)),
    }),
    door<Caller, Request>({
      method: 'GET',
      url: paths.info,
      who,
      handle: async (call) => {
        if (!call.caller) throw invalidToken('The access token is invalid');
        return send(call, await describe(call.services.db, call.caller));
      },
    }),
    ...(['GET', 'POST'] as const).map((method) =>
      door<Caller, Request>({ method, url: paths.userinfo, who, handle: userinfo }),
    ),
    door<Caller, Request>({
      method: 'GET',
      url: paths.keys,
      is_text: true,
      handle: async ({ services, reply }) => sendPublic(reply, { keys: await publishedKeys(services.db) }),
    }),
    told('/.well-known/openid-configuration'),
    told('/.well-known/oauth-authorization-server'),
  ],
  errors: () => jsonForm,
};
