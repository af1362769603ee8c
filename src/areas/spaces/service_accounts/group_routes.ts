/** Service accounts that belong to a group, and go with it. */
import { Type } from 'typebox';
import { allOptional, badRequest, del, get, Id, nothing, nullable, one, pageOf, patch, post } from '../../../http/index.ts';
import { requestRemoval } from '../../people/users/removal_index.ts';
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
} from './queries.ts';

const base = '/groups/:id/service_accounts';
const managers = accountManagers();
const mayNotCreate = () =>
  badRequest('400 Bad request - User does not have permission to create a service account in this namespace.');

export const groupServiceAccountRoutes = [
  get(base, {
    summary: 'List the service accounts of a group',
    access: managers,
    plan: 'premium',
    input: listInput,
    returns: pageOf(ServiceAccount),
    handle: async ({ db, group, input }) => {
      const page = await listAccounts(db, accountsOf(db, group.id), input);
      return { ...page, items: page.items.map(presentServiceAccount) };
    },
  }),
  post(base, {
    summary: 'Add a service account to a top-level group',
    access: accountMakers(mayNotCreate),
    plan: 'premium',
    input: allOptional({ name: Type.String(), username: Type.String(), email: Type.String() }),
    returns: one(ServiceAccount),
    handle: async ({ caller, group, plan, input, ...services }) => {
      if (group.parent_id !== null) throw mayNotCreate();
      const id = await createServiceAccount(services, plan, { ...input, group_id: group.id, created_by_id: caller.id });
      return presentServiceAccount(await accountNumbered(services.db, id));
    },
  }),
  patch(`${base}/:user_id`, {
    summary: 'Change a service account of a group',
    access: managers,
    plan: 'premium',
    input: {
      user_id: Id,
      ...allOptional({ name: nullable(Type.String()), username: nullable(Type.String()), email: nullable(Type.String()) }),
    },
    returns: one(ServiceAccount),
    handle: async ({ db, group, input: { user_id, ...names } }) => {
      await checkAccountOf(db, group.id, user_id);
      await changeServiceAccount(db, user_id, names);
      return presentServiceAccount(await accountNumbered(db, user_id));
    },
  }),
  del(`${base}/:user_id`, {
    summary: 'Remove a service account of a group; what it has contributed stays',
    access: managers,
    plan: 'premium',
    input: {
      user_id: Id,
      hard_delete: Type.Boolean({
        default: false,
        description: 'Whether what it has written is removed, too, and the groups that only it owns',
      }),
    },
    returns: nothing,
    handle: async ({ db, group, input: { user_id, hard_delete }, unmodified_since }) => {
      await checkAccountOf(db, group.id, user_id);
      await requestRemoval(db, user_id, { hard: hard_delete, unmodified_since });
    },
  }),
];
