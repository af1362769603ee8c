/** Public SSH keys of users (docs/reference/keys.md). There is no SSH server; the keys only verify signatures. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { admin, anyone, signedIn } from '../../../access/index.ts';
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import {
  checked,
  del,
  found,
  get,
  Id,
  invalid,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  paginate,
  paging,
  post,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { userIdNamed } from '../users/index.ts';
import { readPublicKey } from './rules.ts';

const UsageType = Type.Enum(['auth', 'signing', 'auth_and_signing']);
const Key = resource('Key', {
  id: Id,
  title: Type.String(),
  created_at: Timestamp,
  expires_at: nullable(Timestamp),
  last_used_at: Type.Null({ description: 'Always null: keys cannot be used to sign in' }),
  key: Type.String(),
  usage_type: UsageType,
});
const columns = ['id', 'title', 'created_at', 'expires_at', 'key', 'usage_type'] as const;

const maximumTitle = 255;

function titleReasons(title: string): string[] {
  if (title.trim() === '') return ["can't be blank"];
  return [...title].length > maximumTitle ? [`is too long (maximum is ${maximumTitle} characters)`] : [];
}

function keyReasons(text: string): string[] {
  const key = readPublicKey(text);
  return 'refusal' in key ? [key.refusal] : [];
}

const input = {
  title: checked(Type.String(), titleReasons),
  key: checked(Type.String({ description: 'Public key, as in an `id_*.pub` file' }), keyReasons),
  expires_at: optional(Timestamp),
  usage_type: optional(UsageType),
};

interface NewKey {
  title: string;
  key: string;
  expires_at?: string;
  usage_type?: 'auth' | 'signing' | 'auth_and_signing';
}

const keysOf = (db: Database, user_id: number) =>
  db
    .selectFrom('keys')
    .select(columns)
    .select(sql<null>`null`.as('last_used_at'))
    .where('user_id', '=', user_id)
    .$castTo<KeyRow>();
type KeyRow = {
  id: number;
  title: string;
  created_at: string;
  expires_at: string | null;
  last_used_at: null;
  key: string;
  usage_type: NonNullable<NewKey['usage_type']>;
};

const keyOf = async (db: Database, user_id: number, key_id: number) =>
  found('Key', await keysOf(db, user_id).where('id', '=', key_id).executeTakeFirst());

/**
 * Adds a key to a user.
 * @throws ApiError 400 for a key that a user already has, or that has expired
 */
async function addKey(db: Database, user_id: number, { key, ...given }: NewKey) {
  const read = readPublicKey(key);
  if ('refusal' in read) throw invalid({ key: [read.refusal] });
  if (given.expires_at !== undefined && given.expires_at <= new Date().toISOString()) throw invalid({ key: ['has expired'] });
  try {
    const { id } = await db
      .insertInto('keys')
      .values({ ...given, user_id, key: read.text, fingerprint_sha256: read.fingerprint_sha256 })
      .returning('id')
      .executeTakeFirstOrThrow();
    return await keyOf(db, user_id, id);
  } catch (error) {
    if (isUniqueViolation(error, 'keys_fingerprint_sha256_key'))
      throw invalid({ fingerprint_sha256: ['has already been taken'] });
    throw error;
  }
}

async function removeKey(db: Database, user_id: number, key_id: number): Promise<void> {
  const query = db.deleteFrom('keys').where('user_id', '=', user_id).where('id', '=', key_id).returning('id');
  found('Key', await query.executeTakeFirst());
}

const own = { access: signedIn, scopes: ['read_user'] };
const open = { access: anyone, scopes: ['read_user'] };
const user = { id: Type.String({ description: 'ID or username' }) };

export const keyRoutes = [
  get('/user/keys', {
    operation: 'listOwnKeys',
    summary: "List the current user's SSH keys",
    ...own,
    input: paging,
    returns: pageOf(Key),
    handle: ({ db, caller, input }) => paginate(db, keysOf(db, caller.id).orderBy('id'), input),
  }),
  get('/user/keys/:key_id', {
    operation: 'getOwnKey',
    summary: "Show one of the current user's SSH keys",
    ...own,
    input: { key_id: Id },
    returns: one(Key),
    refusals: { 404: '404 Key Not Found' },
    handle: ({ db, caller, input }) => keyOf(db, caller.id, input.key_id),
  }),
  post('/user/keys', {
    operation: 'createOwnKey',
    summary: 'Add an SSH key for the current user',
    description: 'A key has at most 20,000 characters.',
    access: signedIn,
    input,
    returns: one(Key),
    refusals: { 400: ['fingerprint_sha256: has already been taken', 'key: <reason>'] },
    handle: ({ db, caller, input }) => addKey(db, caller.id, input),
  }),
  del('/user/keys/:key_id', {
    operation: 'deleteOwnKey',
    summary: "Delete one of the current user's SSH keys",
    access: signedIn,
    input: { key_id: Id },
    returns: nothing,
    refusals: { 404: '404 Key Not Found' },
    handle: ({ db, caller, input }) => removeKey(db, caller.id, input.key_id),
  }),
  get('/users/:id/keys', {
    operation: 'listUserKeys',
    summary: "List a user's SSH keys",
    ...open,
    input: { ...user, ...paging },
    returns: pageOf(Key),
    refusals: { 404: '404 User Not Found' },
    handle: async ({ db, input }) => paginate(db, keysOf(db, await userIdNamed(db, input.id)).orderBy('id'), input),
  }),
  get('/users/:id/keys/:key_id', {
    operation: 'getUserKey',
    summary: "Show one of a user's SSH keys",
    ...open,
    input: { ...user, key_id: Id },
    returns: one(Key),
    refusals: { 404: ['404 User Not Found', '404 Key Not Found'] },
    handle: async ({ db, input }) => keyOf(db, await userIdNamed(db, input.id), input.key_id),
  }),
  post('/users/:id/keys', {
    operation: 'createUserKey',
    summary: 'Add an SSH key for a user',
    description: 'A key has at most 20,000 characters.',
    access: admin,
    input: { id: Id, ...input },
    returns: one(Key),
    refusals: { 400: ['fingerprint_sha256: has already been taken', 'key: <reason>'], 404: '404 User Not Found' },
    handle: async ({ db, input: { id, ...key } }) => addKey(db, await userIdNamed(db, String(id)), key),
  }),
  del('/users/:id/keys/:key_id', {
    operation: 'deleteUserKey',
    summary: "Delete one of a user's SSH keys",
    access: admin,
    input: { id: Id, key_id: Id },
    returns: nothing,
    refusals: { 404: ['404 User Not Found', '404 Key Not Found'] },
    handle: async ({ db, input }) => removeKey(db, await userIdNamed(db, String(input.id)), input.key_id),
  }),
];
