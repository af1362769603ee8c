/** The doors of OAuth: tokens by password or refresh token, their revocation, and information on a token (docs/reference/oauth_tokens.md). */
import { sql } from 'kysely';
import { authenticate, countRequest } from '../../../access/index.ts';
import {
  type Caller,
  type DoorCall,
  type Doorway,
  door,
  type Identification,
  invalidToken,
  jsonForm,
  type Services,
} from '../../../http/index.ts';
import { refused, revokeOauthToken, tokenForPassword, tokenForRefresh } from './actions.ts';

interface TokenRequest {
  Querystring: Record<string, unknown>;
}

type Call = DoorCall<Caller, TokenRequest>;

/** A text that PostgreSQL accepts; any other value counts as omitted. */
const textIn = ({ fields, request: { query } }: Call, name: string): string => {
  const value = fields[name] ?? query[name];
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed() ? value : '';
};

async function give(call: Call) {
  const { services, request } = call;
  switch (textIn(call, 'grant_type')) {
    case 'password': {
      const [username, password] = [textIn(call, 'username'), textIn(call, 'password')];
      return tokenForPassword(services, { username, password, address: request.ip });
    }
    case 'refresh_token':
      return tokenForRefresh(services.db, textIn(call, 'refresh_token'));
    case '':
      throw refused('invalid_request', 'Missing required parameter: grant_type.');
    default:
      throw refused(
        'unsupported_grant_type',
        'The authorization grant type is not supported by the authorization server.',
      );
  }
}

/** The token info: its creation in seconds since 1970, and the seconds until it expires, which are null for access tokens of other kinds. */
async function describe({ db }: Services, { id, token }: Caller) {
  const row = await db
    .selectFrom('oauth_tokens')
    .select(sql<number>`floor(extract(epoch from created_at))`.as('created_at'))
    .select(sql<number>`ceil(extract(epoch from expires_at - now()))`.as('expires_in'))
    .where('id', '=', token.id)
    .executeTakeFirst();
  if (row) return { ...row, resource_owner_id: id };
  const other = await db
    .selectFrom('personal_access_tokens')
    .select(sql<number>`floor(extract(epoch from created_at))`.as('created_at'))
    .where('id', '=', token.id)
    .executeTakeFirst();
  return { created_at: other?.created_at ?? null, expires_in: null, resource_owner_id: id };
}

const who: Identification<Caller, TokenRequest> = {
  identify: (services, request) => authenticate(request, request.query, services),
  scopes: () => undefined,
  count: (services, counting) => countRequest(services, {}, counting),
};

const uncached = { 'cache-control': 'no-store', pragma: 'no-cache' };
const json = (reply: Call['reply'], body: object) =>
  reply.headers({ 'content-type': 'application/json', ...uncached }).send(Buffer.from(JSON.stringify(body)));

export const oauthDoorway: Doorway = {
  cost: 'usual',
  doors: [
    door<Caller, TokenRequest>({
      method: 'POST',
      url: '/oauth/token',
      handle: async (call) => json(call.reply, await give(call)),
    }),
    door<Caller, TokenRequest>({
      method: 'POST',
      url: '/oauth/revoke',
      handle: async (call) => {
        await revokeOauthToken(call.services.db, textIn(call, 'token'));
        return json(call.reply, {});
      },
    }),
    door<Caller, TokenRequest>({
      method: 'GET',
      url: '/oauth/token/info',
      who,
      handle: async ({ services, caller, reply }) => {
        if (!caller) throw invalidToken('The access token is invalid');
        const described = await describe(services, caller);
        return json(reply, { ...described, scope: caller.token.scopes, application: { uid: null } });
      },
    }),
  ],
  errors: () => jsonForm,
};
