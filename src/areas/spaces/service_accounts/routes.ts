/** Service accounts: users that programs work as, and that last longer than a token. */
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
import { changeServiceAccount, createServiceAccount } from './actions.ts';
import { presentServiceAccount, ServiceAccount } from './present.ts';
import { accountNumbered, accountsIn, checkAccount, listAccounts, listInput } from './queries.ts';

/** Administrators; the others are refused in words of their own. */
const creator: Access<{ caller: Caller }> = {
  rule: admin.rule,
  check: (call) =>
    admin.check(call).catch((error: unknown) => {
      const isRefused = error instanceof ApiError && error.status === 403;
      throw isRefused ? forbidden('User does not have permission to create a service account.') : error;
    }),
};

export const serviceAccountRoutes = [
  get('/service_accounts', {
    summary: 'List all service accounts',
    access: admin,
    plan: 'premium',
    offerings: ['self-managed', 'dedicated'],
    input: listInput,
    returns: pageOf(ServiceAccount),
    handle: async ({ db, input }) => {
      const page = await listAccounts(db, accountsIn(db), input);
      return { ...page, items: page.items.map(presentServiceAccount) };
    },
  }),
  post('/service_accounts', {
    summary: 'Add a service account to the instance',
    access: creator,
    plan: 'premium',
    offerings: ['self-managed', 'dedicated'],
    input: allOptional({ name: Type.String(), username: Type.String(), email: Type.String() }),
    returns: one(ServiceAccount),
    handle: async ({ caller, plan, input, ...services }) => {
      const id = await createServiceAccount(services, plan, { ...input, group_id: null, created_by_id: caller.id });
      return presentServiceAccount(await accountNumbered(services.db, id));
    },
  }),
  patch('/service_accounts/:user_id', {
    summary: 'Change a service account',
    access: admin,
    plan: 'premium',
    offerings: ['self-managed', 'dedicated'],
    input: {
      user_id: Id,
      ...allOptional({ name: nullable(Type.String()), username: nullable(Type.String()), email: nullable(Type.String()) }),
    },
    returns: one(ServiceAccount),
    handle: async ({ db, input: { user_id, ...names } }) => {
      await checkAccount(db, user_id);
      await changeServiceAccount(db, user_id, names);
      return presentServiceAccount(await accountNumbered(db, user_id));
    },
  }),
];
