/** Impersonation tokens: tokens with which administrators act as a user. Only administrators see them. */
import { Type } from 'typebox';
import { admin, tokenScopes } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  CommaList,
  DateOnly,
  del,
  found,
  get,
  Id,
  invalid,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  resource,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { issueToken, revokeToken } from './actions.ts';
import { tokenFields } from './present.ts';
import { shownOnce, tokenFilters, tokensIn } from './queries.ts';

const fields = { ...tokenFields, impersonation: Type.Boolean() };
const ImpersonationToken = resource('ImpersonationToken', fields);
const NewImpersonationToken = resource('NewImpersonationToken', { ...fields, token: Type.String() });

const base = '/users/:user_id/impersonation_tokens';
const single = { user_id: Id, impersonation_token_id: Id };

/** @throws ApiError 404 */
async function checkUser(db: Database, user_id: number): Promise<void> {
  const query = db.selectFrom('users').select('id').where('id', '=', user_id).where('user_type', '=', 'human');
  found('User', await query.executeTakeFirst());
}

const tokensOf = (db: Database, user_id: number) =>
  tokensIn(db).select('impersonation').where('user_id', '=', user_id).where('impersonation', '=', true);

/** @throws ApiError 404 */
async function tokenOf(
  db: Database,
  { user_id, impersonation_token_id }: { user_id: number; impersonation_token_id: number },
) {
  await checkUser(db, user_id);
  return found(
    'Impersonation Token',
    await tokensOf(db, user_id).where('id', '=', impersonation_token_id).executeTakeFirst(),
  );
}

export const impersonationTokenRoutes = [
  get(base, {
    operation: 'listImpersonationTokens',
    summary: "List a user's impersonation tokens",
    access: admin,
    input: { user_id: Id, state: Type.Enum(['all', 'active', 'inactive'], { default: 'all' }), ...paging },
    returns: pageOf(ImpersonationToken),
    refusals: { 404: '404 User Not Found' },
    handle: async ({ db, input }) => {
      await checkUser(db, input.user_id);
      const state = input.state === 'all' ? {} : { state: input.state };
      return paginate(db, tokensOf(db, input.user_id).where(tokenFilters.matching(state)).orderBy('id'), input);
    },
  }),
  get(`${base}/:impersonation_token_id`, {
    operation: 'getImpersonationToken',
    summary: 'Show an impersonation token',
    access: admin,
    input: single,
    returns: one(ImpersonationToken),
    refusals: { 404: ['404 User Not Found', '404 Impersonation Token Not Found'] },
    handle: ({ db, input }) => tokenOf(db, input),
  }),
  post(base, {
    operation: 'createImpersonationToken',
    summary: 'Create an impersonation token',
    description: 'The value is shown only here.',
    access: admin,
    input: {
      user_id: Id,
      name: Type.String(),
      description: optional(nullable(Type.String())),
      expires_at: optional(DateOnly),
      scopes: optional(CommaList(Type.Enum([...tokenScopes]))),
    },
    returns: one(NewImpersonationToken),
    refusals: { 400: '<parameter>: <reason>', 404: '404 User Not Found' },
    handle: async ({ db, input: { scopes = [], ...input } }) => {
      await checkUser(db, input.user_id);
      const made = await issueToken(db, { ...input, scopes, impersonation: true }, invalid);
      return { ...(await shownOnce(db, made)), impersonation: true };
    },
  }),
  del(`${base}/:impersonation_token_id`, {
    operation: 'revokeImpersonationToken',
    summary: 'Revoke an impersonation token',
    access: admin,
    input: single,
    returns: nothing,
    refusals: { 400: '400 Bad request', 404: ['404 User Not Found', '404 Impersonation Token Not Found'] },
    handle: async ({ db, input }) => revokeToken(db, (await tokenOf(db, input)).id),
  }),
];
