/** Public SSH keys of users (docs/reference/keys.md). They let their user fetch and push over SSH, and verify signatures. */
import { Type } from 'typebox';
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import { checked, Id, invalid, nullable, optional, resource, Timestamp } from '../../../http/index.ts';
import { noteChange } from '../account_notices/jobs.ts';
import { tellOfKey } from './hook_actions.ts';
import { keyRoutesOf } from './kind_routes.ts';
import { keyReasons, readPublicKey, titleReasons } from './rules.ts';

const UsageType = Type.Enum(['auth', 'signing', 'auth_and_signing']);
export const Key = resource('Key', {
  id: Id,
  title: Type.String(),
  created_at: Timestamp,
  expires_at: nullable(Timestamp),
  last_used_at: nullable(Timestamp),
  key: Type.String(),
  usage_type: UsageType,
});
const columns = ['id', 'title', 'created_at', 'expires_at', 'last_used_at', 'key', 'usage_type'] as const;

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
  db.selectFrom('keys').select(columns).where('user_id', '=', user_id).$castTo<KeyRow>();
type KeyRow = {
  id: number;
  title: string;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  key: string;
  usage_type: NonNullable<NewKey['usage_type']>;
};

/**
 * Adds a key to a user.
 * @throws ApiError 400 for a key that a user already has, or that has expired
 */
async function addKey(db: Database, user_id: number, { key, title, expires_at, usage_type }: NewKey): Promise<KeyRow> {
  const read = readPublicKey(key);
  if ('refusal' in read) throw invalid({ key: [read.refusal] });
  if (expires_at !== undefined && expires_at <= new Date().toISOString()) throw invalid({ key: ['has expired'] });
  try {
    return await db.transaction().execute(async (tx) => {
      const { id } = await tx
        .insertInto('keys')
        .values({ title, expires_at, usage_type, user_id, key: read.text, fingerprint_sha256: read.fingerprint_sha256 })
        .returning('id')
        .executeTakeFirstOrThrow();
      await tellOfKey(tx, 'key_create', id);
      await noteChange(tx, user_id, 'ssh_key_added', title);
      return keysOf(tx, user_id).where('id', '=', id).executeTakeFirstOrThrow();
    });
  } catch (error) {
    if (isUniqueViolation(error, 'keys_fingerprint_sha256_key'))
      throw invalid({ fingerprint_sha256: ['has already been taken'] });
    throw error;
  }
}

export const keyRoutes = keyRoutesOf({
  table: 'keys',
  operation: 'Key',
  missing: 'Key',
  name: 'SSH key',
  article: 'an',
  reply: Key,
  input,
  description: 'A key has at most 20,000 characters.',
  taken: 'fingerprint_sha256: has already been taken',
  revocable: false,
  rows: keysOf,
  add: addKey,
  tellOfRemoval: (tx, id) => tellOfKey(tx, 'key_destroy', id),
});
