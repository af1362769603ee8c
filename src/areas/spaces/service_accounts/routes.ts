/** Service accounts: users for automation, which outlive their tokens (docs/reference/service_accounts.md). */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import {
  type Access,
  ApiError,
  allOptional,
  type Caller,
  forbidden,
  get,
  Id,
  nullable,
  one,
  pageOf,
  patch,
  post,
} from '../../../http/index.ts';
import { mapPage } from '../../../lists/index.ts';
import { changeServiceAccount, createServiceAccount } from './actions.ts';
import { presentServiceAccount, ServiceAccount } from './present.ts';
import { accountNumbered, accountsIn, checkAccount, listAccounts, listInput } from './queries.ts';

/** Administrators. Others get an error text of its own. */
const creator: Access<{ caller: Caller }> = {
  ...admin,
  check: (call) =>
    admin.check(call).catch((error: unknown) => {
      const isRefused = error instanceof ApiError && error.status === 403;
      throw isRefused ? forbidden('User does not have permission to create a service account.') : error;
    }),
};

export const serviceAccountRoutes = [
  get('/service_accounts', {
    operation: 'listServiceAccounts',
    summary: 'List all service accounts, including those of groups',
    access: admin,
    plan: 'premium',
    offerings: ['self-managed', 'dedicated'],
    input: listInput,
    returns: pageOf(ServiceAccount),
    handle: async ({ db, input }) => {
      const page = await listAccounts(db, accountsIn(db), input);
      return mapPage(page, presentServiceAccount);
    },
  }),
  post('/service_accounts', {
    operation: 'createServiceAccount',
    summary: 'Create a service account of the instance',
    access: creator,
    plan: 'premium',
    offerings: ['self-managed', 'dedicated'],
    input: allOptional({ name: Type.String(), username: Type.String(), email: Type.String() }),
    returns: one(ServiceAccount),
    refusals: {
      400: '400 Bad request - <reasons>',
      403: [
        '403 Forbidden - User does not have permission to create a service account.',
        '403 Forbidden - No more seats are available to create Service Account User',
      ],
    },
    handle: async ({ caller, plan, input, ...services }) => {
      const id = await createServiceAccount(services, plan, { ...input, group_id: null, created_by_id: caller.id });
      return presentServiceAccount(await accountNumbered(services.db, id));
    },
  }),
  patch('/service_accounts/:user_id', {
    operation: 'updateServiceAccount',
    summary: 'Update a service account',
    access: admin,
    plan: 'premium',
    offerings: ['self-managed', 'dedicated'],
    input: {
      user_id: Id,
      ...allOptional({
        name: nullable(Type.String()),
        username: nullable(Type.String()),
        email: nullable(Type.String()),
      }),
    },
    returns: one(ServiceAccount),
    refusals: { 400: ['400 Bad request - User is not a service account', '400 Bad request - <reasons>'] },
    handle: async ({ db, input: { user_id, ...names } }) => {
      await checkAccount(db, user_id);
      await changeServiceAccount(db, user_id, names);
      return presentServiceAccount(await accountNumbered(db, user_id));
    },
  }),
];
