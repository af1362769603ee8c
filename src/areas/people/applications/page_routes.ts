/** Applications of users and groups, which pages alone register (docs/reference/applications.md). */
import { Type } from 'typebox';
import type { Database } from '../../../db/index.ts';
import {
  type Access,
  type Caller,
  CommaList,
  del,
  get,
  Id,
  nothing,
  one,
  pageOf,
  post,
  required,
  withStatus,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { groupApplications, newOwnApplications, ownApplications } from './access.ts';
import { deleteApplication, registerApplication, renewSecret } from './actions.ts';
import { Application, NewApplication, present, withSecret } from './present.ts';
import { applicationsOf, type Owner } from './queries.ts';
import { newApplication, redirectRefusals, unknownText } from './routes.ts';
import { applicationScopes } from './rules.ts';

type OwnerAccess = Access<{ caller: Caller; owner: Owner }>;

const input = { ...newApplication, scopes: required(CommaList(Type.Enum([...applicationScopes])), 'is empty') };

const listed = (db: Database, owner: Owner, given: { page: number; per_page: number }) =>
  paginate(db, applicationsOf(db, owner), given);

const routesOf = (
  noun: 'Own' | 'Group',
  base: string,
  { access, creating }: { access: OwnerAccess; creating: OwnerAccess },
) => [
  get(base, {
    operation: `list${noun}Applications`,
    summary: 'List the applications of a user or group',
    access,
    input: paging,
    returns: pageOf(Application),
    handle: async ({ db, owner, input: given }) => mapPage(await listed(db, owner, given), present),
  }),
  post(base, {
    operation: `create${noun}Application`,
    summary: 'Register an application of a user or group',
    access: creating,
    input,
    returns: one(NewApplication),
    refusals: { 400: redirectRefusals },
    handle: async ({ db, owner, input: { scopes, ...given } }) =>
      withSecret(await registerApplication(db, owner, { ...given, scopes: scopes.join(' ') })),
  }),
  del(`${base}/:application_id`, {
    operation: `delete${noun}Application`,
    summary: 'Delete an application of a user or group',
    access,
    input: { application_id: Id },
    returns: nothing,
    refusals: { 404: unknownText },
    handle: ({ db, owner, input: given }) => deleteApplication(db, owner, given.application_id),
  }),
  post(`${base}/:application_id/renew-secret`, {
    operation: `renew${noun}ApplicationSecret`,
    summary: 'Renew the secret of an application of a user or group',
    access,
    input: { application_id: Id },
    returns: withStatus(201, one(NewApplication)),
    refusals: { 404: unknownText },
    handle: async ({ db, owner, input: given }) => withSecret(await renewSecret(db, owner, given.application_id)),
  }),
];

export const ownedApplicationRoutes = [
  ...routesOf('Own', '/user/applications', { access: ownApplications, creating: newOwnApplications }),
  ...routesOf('Group', '/groups/:id/applications', { access: groupApplications, creating: groupApplications }),
];
