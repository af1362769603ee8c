/** Personal access tokens: credentials with which programs act for a user (docs/reference/personal_access_tokens.md). */
import { Type } from 'typebox';
import { admin, signedIn } from '../../../access/index.ts';
import { daysFromNow } from '../../../cron/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  badRequest,
  type Caller,
  CommaList,
  DateOnly,
  del,
  forbidden,
  found,
  get,
  Id,
  notAllowed,
  nothing,
  one,
  optional,
  pageOf,
  post,
  unauthorized,
  unprocessable,
  withStatus,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { issueToken, revokeToken, rotateToken } from './actions.ts';
import { NewPersonalAccessToken, newTokenInput, PersonalAccessToken, PersonalAccessTokenDetails } from './present.ts';
import { shownOnce, TokenOrder, tokenFilters, tokenFor, tokenOrder, tokensIn } from './queries.ts';

const rotation = { expires_at: optional(DateOnly) };

const rotate = async (db: Database, id: number, expires_at: string | undefined) =>
  shownOnce(db, await db.transaction().execute((tx) => rotateToken(tx, id, expires_at)));

/** Whether the caller uses a project or group access token, which has endpoints of its own and cannot create tokens. */
const isOfResource = ({ token: { kind } }: Caller) => kind === 'project' || kind === 'group';

/** Kinds of users who cannot have personal access tokens. */
const ownTypes = new Set(['ghost', 'placeholder', 'project_bot']);

const notPersonalText = '400 Bad request - This endpoint requires token type to be a personal access token';

/**
 * The ID of the token of the request.
 * @throws ApiError 400 for an OAuth token, which is not a personal access token
 */
function tokenIdOf({ token: { id, kind } }: Caller): number {
  if (kind === 'oauth') throw badRequest(notPersonalText);
  return id;
}

/** The token of the request. */
const ownToken = async (db: Database, caller: Caller) =>
  tokensIn(db).select('last_used_ips').where('id', '=', tokenIdOf(caller)).executeTakeFirstOrThrow();

export const personalAccessTokenRoutes = [
  get('/personal_access_tokens', {
    operation: 'listPersonalAccessTokens',
    summary: "List the caller's personal access tokens; administrators see everyone's",
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
    operation: 'getOwnToken',
    summary: 'Show the current token',
    access: signedIn,
    scopes: 'any',
    returns: one(PersonalAccessTokenDetails),
    refusals: { 400: notPersonalText },
    handle: ({ db, caller }) => ownToken(db, caller),
  }),
  get('/personal_access_tokens/:id', {
    operation: 'getPersonalAccessToken',
    summary: 'Show a personal access token',
    access: signedIn,
    input: { id: Id },
    returns: one(PersonalAccessTokenDetails),
    handle: ({ db, caller, input }) => tokenFor(db, caller, input.id),
  }),
  del('/personal_access_tokens/self', {
    operation: 'revokeOwnToken',
    summary: 'Revoke the current token',
    access: signedIn,
    scopes: 'any',
    returns: nothing,
    refusals: { 400: ['400 Bad request', notPersonalText] },
    handle: async ({ db, caller }) => revokeToken(db, tokenIdOf(caller)),
  }),
  del('/personal_access_tokens/:id', {
    operation: 'revokePersonalAccessToken',
    summary: 'Revoke a personal access token',
    access: signedIn,
    input: { id: Id },
    returns: nothing,
    refusals: { 400: '400 Bad request' },
    handle: async ({ db, caller, input }) => revokeToken(db, (await tokenFor(db, caller, input.id)).id),
  }),
  post('/personal_access_tokens/self/rotate', {
    operation: 'rotateOwnToken',
    audits: ['personal_access_token_rotated'],
    summary: 'Rotate the current token',
    rotation: true,
    description:
      'The old token is revoked at once. The value of the new one is shown only here. It expires after 7 days unless `expires_at` is given. Rotating with a revoked token revokes every token of the same chain of rotations.',
    access: signedIn,
    scopes: ['self_rotate'],
    input: rotation,
    returns: withStatus(200, one(NewPersonalAccessToken)),
    refusals: {
      400: ['400 Bad request - Token already revoked', '400 Bad request - Expires at <reason>', notPersonalText],
      405: '405 Method Not Allowed',
    },
    handle: ({ db, caller, input }) => {
      if (isOfResource(caller)) throw notAllowed();
      return rotate(db, tokenIdOf(caller), input.expires_at);
    },
  }),
  post('/personal_access_tokens/:id/rotate', {
    operation: 'rotatePersonalAccessToken',
    audits: ['personal_access_token_rotated', 'project_access_token_rotated', 'group_access_token_rotated'],
    summary: 'Rotate a personal access token',
    rotation: true,
    description:
      'The old token is revoked at once. The value of the new one is shown only here. It expires after 7 days unless `expires_at` is given. Rotating with a revoked token revokes every token of the same chain of rotations.',
    access: signedIn,
    input: { id: Id, ...rotation },
    returns: withStatus(200, one(NewPersonalAccessToken)),
    refusals: {
      400: ['400 Bad request - Token already revoked', '400 Bad request - Expires at <reason>'],
    },
    handle: async ({ db, caller, input }) => {
      const { id, active, revoked } = await tokenFor(db, caller, input.id);
      // Such a token is rotated by its managers; if it could rotate itself, it would outlive their control.
      if (isOfResource(caller)) throw forbidden();
      if (!active && !revoked) throw unauthorized();
      return rotate(db, id, input.expires_at);
    },
  }),
  post('/users/:user_id/personal_access_tokens', {
    operation: 'createUserPersonalAccessToken',
    summary: 'Create a personal access token for a user',
    description: 'The value is shown only here.',
    access: admin,
    input: { user_id: Id, ...newTokenInput },
    returns: one(NewPersonalAccessToken),
    refusals: {
      404: '404 User Not Found',
      422: ['Not permitted to create', '<Parameter> <reason>'],
    },
    handle: async ({ db, input }) => {
      const user = await db
        .selectFrom('users')
        .select(['id', 'user_type'])
        .where('id', '=', input.user_id)
        .executeTakeFirst();
      if (ownTypes.has(found('User', user).user_type)) throw unprocessable('Not permitted to create');
      return shownOnce(db, await issueToken(db, input));
    },
  }),
  post('/user/personal_access_tokens', {
    operation: 'createOwnPersonalAccessToken',
    summary: 'Create a personal access token of limited scope for the current user',
    description:
      'The value is shown only here. The scopes are `k8s_proxy` and `self_rotate`. The token expires on the next day unless `expires_at` is given.',
    access: signedIn,
    input: { ...newTokenInput, scopes: CommaList(Type.Enum(['k8s_proxy', 'self_rotate'])) },
    returns: one(NewPersonalAccessToken),
    refusals: { 422: ['Not permitted to create', '<Parameter> <reason>'] },
    handle: async ({ db, caller, input }) => {
      if (isOfResource(caller)) throw unprocessable('Not permitted to create');
      return shownOnce(
        db,
        await issueToken(db, { ...input, user_id: caller.id, expires_at: input.expires_at ?? daysFromNow(1) }),
      );
    },
  }),
];
