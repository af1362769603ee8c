/** Project and group access tokens (docs/reference/access_tokens.md). */
import { Type } from 'typebox';
import { levels, ProjectLevel, tokenScopes } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type AccessCall,
  ApiError,
  badRequest,
  CommaList,
  capitalized,
  DateOnly,
  del,
  get,
  Id,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  resource as shape,
  unauthorized,
  withStatus,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { TokenOrder, tokenFields, tokenFilters, tokenOrder } from '../../people/personal_access_tokens/index.ts';
import { createAccessToken, revokeAccessToken, rotateAccessToken } from './actions.ts';
import { managersOf, type Resource, tokenOf, tokensOf } from './queries.ts';

const fields = {
  ...tokenFields,
  access_level: nullable(
    Type.Integer({ description: "Access level of the token's bot user; null when its membership has ended" }),
  ),
  resource_type: Type.Enum(['project', 'group']),
  resource_id: Id,
};
const AccessToken = shape('AccessToken', fields);
const NewAccessToken = shape('NewAccessToken', { ...fields, token: Type.String() });

const { user_id: _anyUser, ...filters } = tokenFilters.input;
const Level = ProjectLevel({ default: levels.maintainer });

const present = <T extends object>(resource: Resource, token: T) => ({
  ...token,
  resource_type: resource.kind,
  resource_id: resource.id,
});

/** A new token with its value. */
const shownOnce = async (db: Database, resource: Resource, { id, value }: { id: number; value: string }) => ({
  ...present(resource, await tokenOf(db, resource, id)),
  token: value,
});

/** Callers who can create tokens. Project and group access tokens are excluded: if they could create others, revoking them would not help. */
function makersOf(kind: Resource['kind']) {
  const refusal = () => badRequest(`400 Bad request - User does not have permission to create ${kind} access token`);
  const managers = managersOf(kind, refusal);
  return {
    ...managers,
    check: async (call: AccessCall) => {
      const granted = await managers.check(call);
      if (['project', 'group'].includes(granted.caller.token.kind)) throw refusal();
      return granted;
    },
  };
}

/** The token to rotate. Whether it exists is revealed only to administrators. */
async function tokenToRotate(db: Database, resource: Resource, isAdmin: boolean, token_id: number) {
  const token = await tokenOf(db, resource, token_id).catch((error: unknown) => {
    throw error instanceof ApiError && !isAdmin ? unauthorized() : error;
  });
  if (!token.active && !token.revoked) throw unauthorized();
  return token;
}

function routesOf(kind: Resource['kind']) {
  const base = `/${kind}s/:id/access_tokens`;
  const Noun = capitalized(kind);
  const managers = managersOf(kind, unauthorized);
  return [
    get(base, {
      operation: `list${Noun}AccessTokens`,
      summary: `List ${kind} access tokens`,
      access: managers,
      input: { ...filters, sort: optional(TokenOrder), ...paging },
      returns: pageOf(AccessToken),
      handle: async ({ db, resource, input }) => {
        const tokens = tokensOf(db, resource).where(tokenFilters.matching(input)).orderBy(tokenOrder(input.sort));
        const page = await paginate(db, tokens, input);
        return mapPage(page, (token) => present(resource, token));
      },
    }),
    get(`${base}/:token_id`, {
      operation: `get${Noun}AccessToken`,
      summary: `Show a ${kind} access token`,
      access: managers,
      input: { token_id: Id },
      returns: one(AccessToken),
      refusals: { 404: `404 ${kind} Access Token Not Found` },
      handle: async ({ db, resource, input }) => present(resource, await tokenOf(db, resource, input.token_id)),
    }),
    post(base, {
      operation: `create${Noun}AccessToken`,
      audits: [`${kind}_access_token_created`],
      summary: `Create a ${kind} access token`,
      description:
        'The value is shown only here. The token belongs to a new bot user, who is a member with `access_level`.',
      access: makersOf(kind),
      input: {
        name: Type.String(),
        description: optional(nullable(Type.String())),
        scopes: CommaList(Type.Enum([...tokenScopes])),
        expires_at: optional(DateOnly),
        access_level: Level,
      },
      returns: one(NewAccessToken),
      refusals: {
        400: [
          "400 Bad request - Access level of the token can't be greater the access level of the user who created the token",
          '400 Bad request - <Parameter> <reason>',
        ],
      },
      handle: async ({ db, url, resource, change, input }) =>
        shownOnce(db, resource, await change((tx, granted) => createAccessToken(tx, url, granted, input))),
    }),
    post(`${base}/:token_id/rotate`, {
      operation: `rotate${Noun}AccessToken`,
      audits: [`${kind}_access_token_rotated`],
      summary: `Rotate a ${kind} access token`,
      rotation: true,
      description:
        'The old token is revoked at once. The new value is shown only here, and ends after 7 days unless `expires_at` is given.',
      access: managers,
      input: { token_id: Id, expires_at: optional(DateOnly) },
      returns: withStatus(200, one(NewAccessToken)),
      refusals: {
        400: ['400 Bad request - Token already revoked', '400 Bad request - Expires at <reason>'],
        404: `404 ${kind} Access Token Not Found`,
      },
      handle: async ({ db, resource, change, input }) => {
        const made = await change(async (tx, granted) => {
          const token = await tokenToRotate(tx, resource, granted.caller.admin, input.token_id);
          return rotateAccessToken(tx, granted, token, input.expires_at);
        });
        return shownOnce(db, resource, made);
      },
    }),
    del(`${base}/:token_id`, {
      operation: `revoke${Noun}AccessToken`,
      audits: [`${kind}_access_token_deleted`],
      summary: `Revoke a ${kind} access token and delete its bot user`,
      access: managers,
      input: { token_id: Id },
      returns: nothing,
      refusals: { 400: '400 Bad request', 404: `404 ${kind} Access Token Not Found` },
      handle: ({ resource, change, input }) =>
        change(async (tx, granted) => revokeAccessToken(tx, granted, await tokenOf(tx, resource, input.token_id))),
    }),
  ];
}

export const accessTokenRoutes = [...routesOf('project'), ...routesOf('group')];
