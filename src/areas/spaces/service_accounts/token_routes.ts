/** Personal access tokens of the service accounts of a group; those of other service accounts are made and ended like everybody's. */
import type { Database } from '../../../db/index.ts';
import {
  ApiError,
  badRequest,
  DateOnly,
  del,
  found,
  get,
  Id,
  nothing,
  one,
  optional,
  pageOf,
  paginate,
  paging,
  post,
  withStatus,
} from '../../../http/index.ts';
import {
  issueToken,
  NewPersonalAccessToken,
  newTokenInput,
  PersonalAccessToken,
  revokeToken,
  rotateToken,
  shownOnce,
  TokenOrder,
  tokenFilters,
  tokenOrder,
  tokensIn,
} from '../../people/personal_access_tokens/index.ts';
import { accountMakers, accountManagers, checkAccountOf } from './queries.ts';

const base = '/groups/:id/service_accounts/:user_id/personal_access_tokens';
const managers = accountManagers();
const makers = accountMakers();
const { user_id: _account, ...filters } = tokenFilters.input;

/** The tokens of an account. Those that administrators make to act as somebody are theirs alone. */
const tokensOf = (db: Database, user_id: number) =>
  tokensIn(db).where('user_id', '=', user_id).where('impersonation', '=', false);

const tokenOf = (db: Database, user_id: number, token_id: number) =>
  tokensOf(db, user_id).where('id', '=', token_id).executeTakeFirst();

export const serviceAccountTokenRoutes = [
  get(base, {
    summary: 'List the tokens of a service account of a group',
    access: managers,
    plan: 'premium',
    input: { user_id: Id, ...filters, sort: optional(TokenOrder), ...paging },
    returns: pageOf(PersonalAccessToken),
    handle: async ({ db, group, input }) => {
      await checkAccountOf(db, group.id, input.user_id);
      const tokens = tokensOf(db, input.user_id).where(tokenFilters.matching(input));
      return paginate(db, tokens.orderBy(tokenOrder(input.sort)), input);
    },
  }),
  post(base, {
    summary: 'Make a token for a service account of a group',
    access: makers,
    plan: 'premium',
    input: { user_id: Id, ...newTokenInput },
    returns: one(NewPersonalAccessToken),
    handle: async ({ db, group, input }) => {
      await checkAccountOf(db, group.id, input.user_id);
      return shownOnce(db, await issueToken(db, input));
    },
  }),
  post(`${base}/:token_id/rotate`, {
    summary: 'Put a new token in the place of one of a service account of a group',
    access: makers,
    plan: 'premium',
    input: { user_id: Id, token_id: Id, expires_at: optional(DateOnly) },
    returns: withStatus(200, one(NewPersonalAccessToken)),
    handle: async ({ db, group, input: { user_id, token_id, expires_at } }) => {
      await checkAccountOf(db, group.id, user_id);
      const token = await tokenOf(db, user_id, token_id);
      if (!token) throw new ApiError(404, { message: '404 Not Found' });
      if (!token.active && !token.revoked) throw badRequest('400 Bad request - Token already expired');
      return shownOnce(db, await db.transaction().execute((tx) => rotateToken(tx, token_id, expires_at)));
    },
  }),
  del(`${base}/:token_id`, {
    summary: 'Revoke a token of a service account of a group',
    access: managers,
    plan: 'premium',
    input: { user_id: Id, token_id: Id },
    returns: nothing,
    handle: async ({ db, group, input: { user_id, token_id } }) => {
      await checkAccountOf(db, group.id, user_id);
      await revokeToken(db, found('Personal Access Token', await tokenOf(db, user_id, token_id)).id);
    },
  }),
];
