/** Personal access tokens of group service accounts. Those of other service accounts have the same endpoints as everyone's. */
import { type Group, withChange } from '../../../access/index.ts';
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
  post,
  withStatus,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
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
import { accountMakers, accountManagers, checkAccountOf, notOfType } from './queries.ts';

const base = '/groups/:id/service_accounts/:user_id/personal_access_tokens';
const placeOf = ({ group }: { group: Group }) => ({ group_id: group.id });
const managers = withChange(accountManagers(), placeOf);
const makers = withChange(accountMakers(), placeOf);
const { user_id: _account, ...filters } = tokenFilters.input;

/** The tokens of an account, without impersonation tokens, which only administrators see. */
const tokensOf = (db: Database, user_id: number) =>
  tokensIn(db).where('user_id', '=', user_id).where('impersonation', '=', false);

const tokenOf = (db: Database, user_id: number, token_id: number) =>
  tokensOf(db, user_id).where('id', '=', token_id).executeTakeFirst();

export const serviceAccountTokenRoutes = [
  get(base, {
    operation: 'listGroupServiceAccountTokens',
    summary: "List a group service account's tokens",
    access: managers,
    plan: 'premium',
    input: { user_id: Id, ...filters, sort: optional(TokenOrder), ...paging },
    returns: pageOf(PersonalAccessToken),
    refusals: { 400: notOfType, 404: '404 User Not Found' },
    handle: async ({ db, group, input }) => {
      await checkAccountOf(db, group.id, input.user_id);
      const tokens = tokensOf(db, input.user_id).where(tokenFilters.matching(input));
      return paginate(db, tokens.orderBy(tokenOrder(input.sort)), input);
    },
  }),
  post(base, {
    operation: 'createGroupServiceAccountToken',
    summary: 'Create a token for a group service account',
    description: 'The value is shown only here.',
    access: makers,
    plan: 'premium',
    input: { user_id: Id, ...newTokenInput },
    returns: one(NewPersonalAccessToken),
    refusals: { 400: notOfType, 404: '404 User Not Found', 422: '<Parameter> <reason>' },
    handle: async ({ db, change, input }) => {
      const made = await change(async (tx, { group }) => {
        await checkAccountOf(tx, group.id, input.user_id);
        return issueToken(tx, input);
      });
      return shownOnce(db, made);
    },
  }),
  post(`${base}/:token_id/rotate`, {
    operation: 'rotateGroupServiceAccountToken',
    audits: ['personal_access_token_rotated'],
    summary: "Rotate a group service account's token",
    rotation: true,
    description:
      'The old token is revoked at once. The new value is shown only here, and ends after 7 days unless `expires_at` is given.',
    access: makers,
    plan: 'premium',
    input: { user_id: Id, token_id: Id, expires_at: optional(DateOnly) },
    returns: withStatus(200, one(NewPersonalAccessToken)),
    refusals: {
      400: [
        notOfType,
        '400 Bad request - Token already revoked',
        '400 Bad request - Token already expired',
        '400 Bad request - Expires at <reason>',
      ],
      404: '404 User Not Found',
    },
    handle: async ({ db, change, input: { user_id, token_id, expires_at } }) => {
      const made = await change(async (tx, { group }) => {
        await checkAccountOf(tx, group.id, user_id);
        const token = await tokenOf(tx, user_id, token_id);
        if (!token) throw new ApiError(404, { message: '404 Not Found' });
        if (!token.active && !token.revoked) throw badRequest('400 Bad request - Token already expired');
        return rotateToken(tx, token_id, expires_at);
      });
      return shownOnce(db, made);
    },
  }),
  del(`${base}/:token_id`, {
    operation: 'revokeGroupServiceAccountToken',
    summary: "Revoke a group service account's token",
    access: managers,
    plan: 'premium',
    input: { user_id: Id, token_id: Id },
    returns: nothing,
    refusals: {
      400: [notOfType, '400 Bad request'],
      404: ['404 User Not Found', '404 Personal Access Token Not Found'],
    },
    handle: ({ change, input: { user_id, token_id } }) =>
      change(async (tx, { group }) => {
        await checkAccountOf(tx, group.id, user_id);
        await revokeToken(tx, found('Personal Access Token', await tokenOf(tx, user_id, token_id)).id);
      }),
  }),
];
