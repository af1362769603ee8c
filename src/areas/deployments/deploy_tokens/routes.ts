/** Deploy tokens: credentials that fetch the code of a project, or of all projects below a group, on behalf of no user (docs/reference/deploy_tokens.md). */
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { admin, isExpiredDeployToken, type Owner, ownerRole } from '../../../access/index.ts';
import { lastDayReasons } from '../../../cron/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  CommaList,
  capitalized,
  checked,
  del,
  deleteFound,
  found,
  get,
  Id,
  NotBlank,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  required,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { createDeployToken } from './actions.ts';
import { deployScopes, nameReasons, usernameReasons } from './rules.ts';

const fields = {
  id: Id,
  name: Type.String(),
  username: Type.String({ description: 'The username that HTTP Basic requires with the token' }),
  expires_at: nullable(Timestamp),
  revoked: Type.Boolean({ description: 'Always false: revoking a token deletes it' }),
  expired: Type.Boolean(),
  scopes: Type.Array(Type.String()),
};
const DeployToken = resource('DeployToken', fields);
const NewDeployToken = resource('NewDeployToken', { ...fields, token: Type.String() });

const tokensIn = (db: Database) =>
  db
    .selectFrom('deploy_tokens')
    .select(['id', 'name', 'username', 'expires_at', 'scopes'])
    .select([isExpiredDeployToken.as('expired'), sql<boolean>`false`.as('revoked')])
    .orderBy('id');

const tokensOf = (db: Database, { project_id, group_id }: Owner) =>
  project_id === null
    ? tokensIn(db).where('group_id', '=', group_id)
    : tokensIn(db).where('project_id', '=', project_id);

/** @throws ApiError 404 */
const tokenOf = async (db: Database, owner: Owner, id: number): Promise<Static<typeof DeployToken>> =>
  found(undefined, await tokensOf(db, owner).where('id', '=', id).executeTakeFirst());

const filters = {
  active: optional(
    Type.Boolean({ description: '`true`: only tokens that have not expired; `false`: only those that have' }),
  ),
};

async function listed(
  db: Database,
  tokens: ReturnType<typeof tokensIn>,
  input: { active?: boolean; page: number; per_page: number },
) {
  const { active } = input;
  return paginate(db, active === undefined ? tokens : tokens.where(isExpiredDeployToken, '=', !active), input);
}

function routesOf(kind: 'project' | 'group') {
  const base = `/${kind}s/:id/deploy_tokens`;
  const Noun = capitalized(kind);
  // Tokens of an archived project can still be revoked.
  const access = ownerRole(kind, 'manage_deploy_tokens', { archived: true });
  return [
    get(base, {
      operation: `list${Noun}DeployTokens`,
      summary: `List the deploy tokens of a ${kind}, oldest first`,
      access,
      input: { ...filters, ...paging },
      returns: pageOf(DeployToken),
      handle: ({ db, owner, input }) => listed(db, tokensOf(db, owner), input),
    }),
    get(`${base}/:token_id`, {
      operation: `get${Noun}DeployToken`,
      summary: `Show a deploy token of a ${kind}`,
      access,
      input: { token_id: Id },
      returns: one(DeployToken),
      handle: ({ db, owner, input }) => tokenOf(db, owner, input.token_id),
    }),
    post(base, {
      operation: `create${Noun}DeployToken`,
      summary: `Create a deploy token of a ${kind}`,
      description: 'The value is shown only here.',
      access,
      input: {
        name: checked(NotBlank({ description: 'At most 255 characters' }), nameReasons),
        scopes: required(CommaList(Type.Enum([...deployScopes]))),
        expires_at: optional(checked(nullable(Timestamp), lastDayReasons)),
        username: optional(
          checked(
            Type.String({ description: 'Default `gitlab+deploy-token-<id>`; at most 255 characters' }),
            usernameReasons,
          ),
        ),
      },
      returns: one(NewDeployToken),
      handle: async ({ db, owner, input }) => {
        const { id, value } = await createDeployToken(db, owner, input);
        return { ...(await tokenOf(db, owner, id)), token: value };
      },
    }),
    del(`${base}/:token_id`, {
      operation: `delete${Noun}DeployToken`,
      summary: `Delete a deploy token of a ${kind}`,
      access,
      input: { token_id: Id },
      returns: nothing,
      handle: async ({ db, owner, input }) => {
        const { id } = await tokenOf(db, owner, input.token_id);
        // Of two concurrent requests, only one deletes it.
        await deleteFound(db, 'deploy_tokens', id);
      },
    }),
  ];
}

export const deployTokenRoutes = [
  get('/deploy_tokens', {
    operation: 'listDeployTokens',
    summary: 'List the deploy tokens of all projects and groups, oldest first',
    access: admin,
    input: { ...filters, ...paging },
    returns: pageOf(DeployToken),
    handle: ({ db, input }) => listed(db, tokensIn(db), input),
  }),
  ...routesOf('project'),
  ...routesOf('group'),
];
