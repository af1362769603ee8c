/** Public GPG keys of users, which verify their signatures (docs/reference/gpg_keys.md). */
import { Type } from 'typebox';
import { admin, anyone, signedIn } from '../../../access/index.ts';
import { columnsOf, type Database, isUniqueViolation } from '../../../db/index.ts';
import {
  accepted,
  checked,
  del,
  found,
  get,
  Id,
  invalid,
  nothing,
  one,
  pageOf,
  paginate,
  paging,
  post,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { userIdNamed } from '../users/index.ts';
import { readGpgKey } from './rules.ts';

const GpgKey = resource('GpgKey', { id: Id, key: Type.String(), created_at: Timestamp });
const columns = columnsOf(GpgKey);

function keyReasons(text: string): string[] {
  const key = readGpgKey(text);
  return 'refusal' in key ? [key.refusal] : [];
}
const input = {
  key: checked(Type.String({ description: 'Armored public key, as written by `gpg --armor --export`' }), keyReasons),
};

const keysOf = (db: Database, user_id: number) => db.selectFrom('gpg_keys').select(columns).where('user_id', '=', user_id);

const keyOf = async (db: Database, user_id: number, key_id: number) =>
  found('GPG Key', await keysOf(db, user_id).where('id', '=', key_id).executeTakeFirst());

/** @throws ApiError 400 for a key that a user already has */
async function addKey(db: Database, user_id: number, text: string) {
  const key = readGpgKey(text);
  if ('refusal' in key) throw invalid({ key: [key.refusal] });
  try {
    return await db
      .insertInto('gpg_keys')
      .values({ user_id, key: key.text, fingerprint: key.fingerprint })
      .returning(columns)
      .executeTakeFirstOrThrow();
  } catch (error) {
    if (isUniqueViolation(error, 'gpg_keys_fingerprint_key')) throw invalid({ fingerprint: ['has already been taken'] });
    throw error;
  }
}

async function removeKey(db: Database, user_id: number, key_id: number): Promise<void> {
  const query = db.deleteFrom('gpg_keys').where('user_id', '=', user_id).where('id', '=', key_id).returning('id');
  found('GPG Key', await query.executeTakeFirst());
}

const named = { id: Type.String({ description: 'ID or username' }) };
const single = { key_id: Id };

const own = [
  get('/user/gpg_keys', {
    operation: 'listOwnGpgKeys',
    summary: "List the current user's GPG keys",
    access: signedIn,
    scopes: ['read_user'],
    input: paging,
    returns: pageOf(GpgKey),
    handle: ({ db, caller, input }) => paginate(db, keysOf(db, caller.id).orderBy('id'), input),
  }),
  get('/user/gpg_keys/:key_id', {
    operation: 'getOwnGpgKey',
    summary: "Show one of the current user's GPG keys",
    access: signedIn,
    scopes: ['read_user'],
    input: single,
    returns: one(GpgKey),
    refusals: { 404: '404 GPG Key Not Found' },
    handle: ({ db, caller, input }) => keyOf(db, caller.id, input.key_id),
  }),
  post('/user/gpg_keys', {
    operation: 'createOwnGpgKey',
    summary: 'Add a GPG key for the current user',
    description: 'A key has at most 1,000,000 characters.',
    access: signedIn,
    input,
    returns: one(GpgKey),
    refusals: { 400: ['fingerprint: has already been taken', 'key: <reason>'] },
    handle: ({ db, caller, input }) => addKey(db, caller.id, input.key),
  }),
  post('/user/gpg_keys/:key_id/revoke', {
    operation: 'revokeOwnGpgKey',
    summary: "Revoke one of the current user's GPG keys, which deletes it",
    access: signedIn,
    input: single,
    returns: accepted,
    refusals: { 404: '404 GPG Key Not Found' },
    handle: ({ db, caller, input }) => removeKey(db, caller.id, input.key_id),
  }),
  del('/user/gpg_keys/:key_id', {
    operation: 'deleteOwnGpgKey',
    summary: "Delete one of the current user's GPG keys",
    access: signedIn,
    input: single,
    returns: nothing,
    refusals: { 404: '404 GPG Key Not Found' },
    handle: ({ db, caller, input }) => removeKey(db, caller.id, input.key_id),
  }),
];

const ofUsers = [
  get('/users/:id/gpg_keys', {
    operation: 'listUserGpgKeys',
    summary: "List a user's GPG keys",
    access: anyone,
    scopes: ['read_user'],
    input: { ...named, ...paging },
    returns: pageOf(GpgKey),
    refusals: { 404: '404 User Not Found' },
    handle: async ({ db, input }) => paginate(db, keysOf(db, await userIdNamed(db, input.id)).orderBy('id'), input),
  }),
  get('/users/:id/gpg_keys/:key_id', {
    operation: 'getUserGpgKey',
    summary: "Show one of a user's GPG keys",
    access: anyone,
    scopes: ['read_user'],
    input: { ...named, ...single },
    returns: one(GpgKey),
    refusals: { 404: ['404 User Not Found', '404 GPG Key Not Found'] },
    handle: async ({ db, input }) => keyOf(db, await userIdNamed(db, input.id), input.key_id),
  }),
  post('/users/:id/gpg_keys', {
    operation: 'createUserGpgKey',
    summary: 'Add a GPG key for a user',
    description: 'A key has at most 1,000,000 characters.',
    access: admin,
    input: { ...named, ...input },
    returns: one(GpgKey),
    refusals: { 400: ['fingerprint: has already been taken', 'key: <reason>'], 404: '404 User Not Found' },
    handle: async ({ db, input }) => addKey(db, await userIdNamed(db, input.id), input.key),
  }),
  post('/users/:id/gpg_keys/:key_id/revoke', {
    operation: 'revokeUserGpgKey',
    summary: "Revoke one of a user's GPG keys, which deletes it",
    access: admin,
    input: { ...named, ...single },
    returns: accepted,
    refusals: { 404: ['404 User Not Found', '404 GPG Key Not Found'] },
    handle: async ({ db, input }) => removeKey(db, await userIdNamed(db, input.id), input.key_id),
  }),
  del('/users/:id/gpg_keys/:key_id', {
    operation: 'deleteUserGpgKey',
    summary: "Delete one of a user's GPG keys",
    access: admin,
    input: { ...named, ...single },
    returns: nothing,
    refusals: { 404: ['404 User Not Found', '404 GPG Key Not Found'] },
    handle: async ({ db, input }) => removeKey(db, await userIdNamed(db, input.id), input.key_id),
  }),
];

export const gpgKeyRoutes = [...own, ...ofUsers];
