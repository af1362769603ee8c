/** Public GPG keys of users, by which others recognise what they have signed. */
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
const input = { key: checked(Type.String({ description: 'What `gpg --armor --export` writes' }), keyReasons) };

const keysOf = (db: Database, user_id: number) => db.selectFrom('gpg_keys').select(columns).where('user_id', '=', user_id);

const keyOf = async (db: Database, user_id: number, key_id: number) =>
  found('GPG Key', await keysOf(db, user_id).where('id', '=', key_id).executeTakeFirst());

/** @throws ApiError 400 for a key that somebody has already */
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

const named = { id: Type.String({ description: 'Id or username' }) };
const single = { key_id: Id };

const own = [
  get('/user/gpg_keys', {
    summary: 'List the GPG keys of who calls',
    access: signedIn,
    scopes: ['read_user'],
    input: paging,
    returns: pageOf(GpgKey),
    handle: ({ db, caller, input }) => paginate(db, keysOf(db, caller.id).orderBy('id'), input),
  }),
  get('/user/gpg_keys/:key_id', {
    summary: 'Show one GPG key of who calls',
    access: signedIn,
    scopes: ['read_user'],
    input: single,
    returns: one(GpgKey),
    handle: ({ db, caller, input }) => keyOf(db, caller.id, input.key_id),
  }),
  post('/user/gpg_keys', {
    summary: 'Add a GPG key',
    access: signedIn,
    input,
    returns: one(GpgKey),
    handle: ({ db, caller, input }) => addKey(db, caller.id, input.key),
  }),
  post('/user/gpg_keys/:key_id/revoke', {
    summary: 'Remove a GPG key that others may have got hold of',
    access: signedIn,
    input: single,
    returns: accepted,
    handle: ({ db, caller, input }) => removeKey(db, caller.id, input.key_id),
  }),
  del('/user/gpg_keys/:key_id', {
    summary: 'Remove a GPG key',
    access: signedIn,
    input: single,
    returns: nothing,
    handle: ({ db, caller, input }) => removeKey(db, caller.id, input.key_id),
  }),
];

const ofUsers = [
  get('/users/:id/gpg_keys', {
    summary: 'List the GPG keys of a user',
    access: anyone,
    scopes: ['read_user'],
    input: { ...named, ...paging },
    returns: pageOf(GpgKey),
    handle: async ({ db, input }) => paginate(db, keysOf(db, await userIdNamed(db, input.id)).orderBy('id'), input),
  }),
  get('/users/:id/gpg_keys/:key_id', {
    summary: 'Show one GPG key of a user',
    access: anyone,
    scopes: ['read_user'],
    input: { ...named, ...single },
    returns: one(GpgKey),
    handle: async ({ db, input }) => keyOf(db, await userIdNamed(db, input.id), input.key_id),
  }),
  post('/users/:id/gpg_keys', {
    summary: 'Add a GPG key for a user',
    access: admin,
    input: { ...named, ...input },
    returns: one(GpgKey),
    handle: async ({ db, input }) => addKey(db, await userIdNamed(db, input.id), input.key),
  }),
  post('/users/:id/gpg_keys/:key_id/revoke', {
    summary: 'Remove a GPG key of a user that others may have got hold of',
    access: admin,
    input: { ...named, ...single },
    returns: accepted,
    handle: async ({ db, input }) => removeKey(db, await userIdNamed(db, input.id), input.key_id),
  }),
  del('/users/:id/gpg_keys/:key_id', {
    summary: 'Remove a GPG key of a user',
    access: admin,
    input: { ...named, ...single },
    returns: nothing,
    handle: async ({ db, input }) => removeKey(db, await userIdNamed(db, input.id), input.key_id),
  }),
];

export const gpgKeyRoutes = [...own, ...ofUsers];
