/** Service accounts of groups, which are deleted with their group. */
import { Type } from 'typebox';
import {
  allOptional,
  badRequest,
  del,
  get,
  Id,
  nothing,
  nullable,
  one,
  pageOf,
  patch,
  post,
} from '../../../http/index.ts';
import { mapPage } from '../../../lists/index.ts';
import { requestRemoval } from '../../people/users/index.ts';
import { changeServiceAccount, createServiceAccount } from './actions.ts';
import { presentServiceAccount, ServiceAccount } from './present.ts';
import {
  accountMakers,
  accountManagers,
  accountNumbered,
  accountsOf,
  checkAccountOf,
  listAccounts,
  listInput,
  notOfType,
} from './queries.ts';

const base = '/groups/:id/service_accounts';
const managers = accountManagers();
const mayNotCreate = () =>
  badRequest('400 Bad request - User does not have permission to create a service account in this namespace.');

export const groupServiceAccountRoutes = [
  get(base, {
    operation: 'listGroupServiceAccounts',
    summary: "List a group's service accounts",
    access: managers,
    plan: 'premium',
    input: listInput,
    returns: pageOf(ServiceAccount),
    handle: async ({ db, group, input }) => {
      const page = await listAccounts(db, accountsOf(db, group.id), input);
      return mapPage(page, presentServiceAccount);
    },
  }),
  post(base, {
    operation: 'createGroupServiceAccount',
    summary: 'Create a service account in a top-level group',
    access: accountMakers(mayNotCreate),
    plan: 'premium',
    input: allOptional({ name: Type.String(), username: Type.String(), email: Type.String() }),
    returns: one(ServiceAccount),
    refusals: { 400: '400 Bad request - <reasons>', 404: '404 Group Not Found' },
    handle: async ({ caller, group, plan, input, ...services }) => {
      if (group.parent_id !== null) throw mayNotCreate();
      const id = await createServiceAccount(services, plan, { ...input, group_id: group.id, created_by_id: caller.id });
      return presentServiceAccount(await accountNumbered(services.db, id));
    },
  }),
  patch(`${base}/:user_id`, {
    operation: 'updateGroupServiceAccount',
    summary: "Update a group's service account",
    access: managers,
    plan: 'premium',
    input: {
      user_id: Id,
      ...allOptional({
        name: nullable(Type.String()),
        username: nullable(Type.String()),
        email: nullable(Type.String()),
      }),
    },
    returns: one(ServiceAccount),
    refusals: { 400: [notOfType, '400 Bad request - <reasons>'], 404: '404 User Not Found' },
    handle: async ({ db, group, input: { user_id, ...names } }) => {
      await checkAccountOf(db, group.id, user_id);
      await changeServiceAccount(db, user_id, names);
      return presentServiceAccount(await accountNumbered(db, user_id));
    },
  }),
  del(`${base}/:user_id`, {
    operation: 'deleteGroupServiceAccount',
    audits: ['user_destroyed'],
    summary: "Delete a group's service account; its contributions stay",
    access: managers,
    plan: 'premium',
    input: {
      user_id: Id,
      hard_delete: Type.Boolean({
        default: false,
        description: 'Whether to also delete what it has written and the groups that it alone owns',
      }),
    },
    conditional: true,
    returns: nothing,
    refusals: {
      400: notOfType,
      404: '404 User Not Found',
      409: 'User cannot be removed while is the sole-owner of a group',
    },
    handle: async ({ db, group, input: { user_id, hard_delete }, unmodified_since }) => {
      await checkAccountOf(db, group.id, user_id);
      await requestRemoval(db, user_id, { hard: hard_delete, unmodified_since });
    },
  }),
];
