/** Access tokens of projects and groups: for programs that work there and nowhere else. */
import { Type } from 'typebox';
import { tokenScopes } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type AccessCall,
  ApiError,
  badRequest,
  CommaList,
  DateOnly,
  del,
  get,
  Id,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  paginate,
  paging,
  post,
  resource as shape,
  unauthorized,
  withStatus,
} from '../../../http/index.ts';
import { TokenOrder, tokenFields, tokenFilters, tokenOrder } from '../../people/personal_access_tokens/index.ts';
import { createAccessToken, revokeAccessToken, rotateAccessToken } from './actions.ts';
import { managersOf, type Resource, tokenOf, tokensOf } from './queries.ts';

const fields = {
  ...tokenFields,
  access_level: nullable(Type.Integer({ description: 'Null when the membership has ended' })),
  resource_type: Type.Enum(['project', 'group']),
  resource_id: Id,
};
const AccessToken = shape('AccessToken', fields);
const NewAccessToken = shape('NewAccessToken', { ...fields, token: Type.String() });

const { user_id: _everybody, ...filters } = tokenFilters.input;
const Level = Type.Enum([10, 15, 20, 30, 40, 50], { default: 40 });

const present = <T extends object>(resource: Resource, token: T) => ({
  ...token,
  resource_type: resource.kind,
  resource_id: resource.id,
});

/** A token that was just made, with its value. */
const shownOnce = async (db: Database, resource: Resource, { id, value }: { id: number; value: string }) => ({
  ...present(resource, await tokenOf(db, resource, id)),
  token: value,
});

/** Who may make tokens: people who manage the place. A token that makes tokens could not be taken away. */
function makersOf(kind: Resource['kind']) {
  const refusal = () => badRequest(`400 Bad request - User does not have permission to create ${kind} access token`);
  const managers = managersOf(kind, refusal);
  return {
    rule: managers.rule,
    check: async (call: AccessCall) => {
      const granted = await managers.check(call);
      if (['project', 'group'].includes(granted.caller.token.kind)) throw refusal();
      return granted;
    },
  };
}

/** The token to rotate; whoever is no administrator does not learn whether it exists. */
async function tokenToRotate(db: Database, resource: Resource, isAdmin: boolean, token_id: number) {
  const token = await tokenOf(db, resource, token_id).catch((error: unknown) => {
    throw error instanceof ApiError && !isAdmin ? unauthorized() : error;
  });
  if (!token.active && !token.revoked) throw unauthorized();
  return token;
}

function routesOf(kind: Resource['kind']) {
  const base = `/${kind}s/:id/access_tokens`;
  const managers = managersOf(kind, unauthorized);
  return [
    get(base, {
      summary: `List the access tokens of a ${kind}`,
      access: managers,
      input: { ...filters, sort: optional(TokenOrder), ...paging },
      returns: pageOf(AccessToken),
      handle: async ({ db, resource, input }) => {
        const tokens = tokensOf(db, resource).where(tokenFilters.matching(input)).orderBy(tokenOrder(input.sort));
        const page = await paginate(db, tokens, input);
        return { ...page, items: page.items.map((token) => present(resource, token)) };
      },
    }),
    get(`${base}/:token_id`, {
      summary: `Show one access token of a ${kind}`,
      access: managers,
      input: { token_id: Id },
      returns: one(AccessToken),
      handle: async ({ db, resource, input }) => present(resource, await tokenOf(db, resource, input.token_id)),
    }),
    post(base, {
      summary: `Make an access token for a ${kind}`,
      access: makersOf(kind),
      input: {
        name: Type.String(),
        description: optional(nullable(Type.String())),
        scopes: CommaList(Type.Enum([...tokenScopes])),
        expires_at: optional(DateOnly),
        access_level: Level,
      },
      returns: one(NewAccessToken),
      handle: async ({ caller, resource, input, ...services }) => {
        const made = await createAccessToken(services, { caller, resource }, input);
        return shownOnce(services.db, resource, made);
      },
    }),
    post(`${base}/:token_id/rotate`, {
      summary: 'Put a new access token in the place of one',
      access: managers,
      input: { token_id: Id, expires_at: optional(DateOnly) },
      returns: withStatus(200, one(NewAccessToken)),
      handle: async ({ db, caller, resource, input }) => {
        const token = await tokenToRotate(db, resource, caller.admin, input.token_id);
        return shownOnce(db, resource, await rotateAccessToken(db, { caller, resource }, token, input.expires_at));
      },
    }),
    del(`${base}/:token_id`, {
      summary: 'Revoke an access token, and remove its user',
      access: managers,
      input: { token_id: Id },
      returns: nothing,
      handle: async ({ db, caller, resource, input }) =>
        revokeAccessToken(db, { caller, resource }, await tokenOf(db, resource, input.token_id)),
    }),
  ];
}

export const accessTokenRoutes = [...routesOf('project'), ...routesOf('group')];
