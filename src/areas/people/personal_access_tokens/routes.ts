/** Personal access tokens: what programs show to act for a user. */
import { Type } from 'typebox';
import { admin, signedIn } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type Caller,
  CommaList,
  DateOnly,
  del,
  found,
  get,
  Id,
  notAllowed,
  nothing,
  one,
  optional,
  pageOf,
  paginate,
  paging,
  post,
  unauthorized,
  unprocessable,
  withStatus,
} from '../../../http/index.ts';
import { issueToken, revokeToken, rotateToken } from './actions.ts';
import { NewPersonalAccessToken, newTokenInput, PersonalAccessToken, PersonalAccessTokenDetails } from './present.ts';
import { shownOnce, TokenOrder, tokenFilters, tokenFor, tokenOrder, tokensIn } from './queries.ts';
import { dayIn } from './rules.ts';

const rotation = { expires_at: optional(DateOnly) };

const rotate = async (db: Database, id: number, expires_at: string | undefined) =>
  shownOnce(db, await db.transaction().execute((tx) => rotateToken(tx, id, expires_at)));

/** Whether a program of a project or group calls: its token is made and rotated there, and makes no others. */
const isOfResource = ({ token: { kind } }: Caller) => kind === 'project' || kind === 'group';

/** Kinds of users whose tokens are made elsewhere, or nowhere. */
const ownTypes = new Set(['ghost', 'project_bot']);

/** The token that the request was made with. */
const ownToken = (db: Database, { token }: Caller) =>
  tokensIn(db).select('last_used_ips').where('id', '=', token.id).executeTakeFirstOrThrow();

export const personalAccessTokenRoutes = [
  get('/personal_access_tokens', {
    summary: 'List the tokens of who calls; administrators see those of all',
    access: signedIn,
    input: { ...tokenFilters.input, sort: optional(TokenOrder), ...paging },
    returns: pageOf(PersonalAccessToken),
    handle: ({ db, caller, input }) => {
      if (!caller.admin && input.user_id !== undefined && input.user_id !== caller.id) throw unauthorized();
      const all = tokensIn(db).where(tokenFilters.matching(input));
      const known = caller.admin ? all : all.where('user_id', '=', caller.id).where('impersonation', '=', false);
      return paginate(db, known.orderBy(tokenOrder(input.sort)), input);
    },
  }),
  get('/personal_access_tokens/self', {
    summary: 'Show the token that the request is made with',
    access: signedIn,
    scopes: 'any',
    returns: one(PersonalAccessTokenDetails),
    handle: ({ db, caller }) => ownToken(db, caller),
  }),
  get('/personal_access_tokens/:id', {
    summary: 'Show a token',
    access: signedIn,
    input: { id: Id },
    returns: one(PersonalAccessTokenDetails),
    handle: ({ db, caller, input }) => tokenFor(db, caller, input.id),
  }),
  del('/personal_access_tokens/self', {
    summary: 'Revoke the token that the request is made with',
    access: signedIn,
    scopes: 'any',
    returns: nothing,
    handle: ({ db, caller }) => revokeToken(db, caller.token.id),
  }),
  del('/personal_access_tokens/:id', {
    summary: 'Revoke a token',
    access: signedIn,
    input: { id: Id },
    returns: nothing,
    handle: async ({ db, caller, input }) => revokeToken(db, (await tokenFor(db, caller, input.id)).id),
  }),
  post('/personal_access_tokens/self/rotate', {
    summary: 'Put a new token in the place of the one that the request is made with',
    access: signedIn,
    scopes: ['self_rotate'],
    input: rotation,
    returns: withStatus(200, one(NewPersonalAccessToken)),
    handle: ({ db, caller, input }) => {
      if (isOfResource(caller)) throw notAllowed();
      return rotate(db, caller.token.id, input.expires_at);
    },
  }),
  post('/personal_access_tokens/:id/rotate', {
    summary: 'Put a new token in the place of one',
    access: signedIn,
    input: { id: Id, ...rotation },
    returns: withStatus(200, one(NewPersonalAccessToken)),
    handle: async ({ db, caller, input }) => {
      const { id, active, revoked } = await tokenFor(db, caller, input.id);
      if (!active && !revoked) throw unauthorized();
      return rotate(db, id, input.expires_at);
    },
  }),
  post('/users/:user_id/personal_access_tokens', {
    summary: 'Make a token for a user',
    access: admin,
    input: { user_id: Id, ...newTokenInput },
    returns: one(NewPersonalAccessToken),
    handle: async ({ db, input }) => {
      const user = await db.selectFrom('users').select(['id', 'user_type']).where('id', '=', input.user_id).executeTakeFirst();
      if (ownTypes.has(found('User', user).user_type)) throw unprocessable('Not permitted to create');
      return shownOnce(db, await issueToken(db, input));
    },
  }),
  post('/user/personal_access_tokens', {
    summary: 'Make a token of little power for oneself',
    access: signedIn,
    input: { ...newTokenInput, scopes: CommaList(Type.Enum(['k8s_proxy', 'self_rotate'])) },
    returns: one(NewPersonalAccessToken),
    handle: async ({ db, caller, input }) => {
      if (isOfResource(caller)) throw unprocessable('Not permitted to create');
      return shownOnce(db, await issueToken(db, { ...input, user_id: caller.id, expires_at: input.expires_at ?? dayIn(1) }));
    },
  }),
];
