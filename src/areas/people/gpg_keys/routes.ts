/** Public GPG keys of users, which verify their signatures (docs/reference/gpg_keys.md). */
import { Type } from 'typebox';
import { columnsOf, type Database, isUniqueViolation } from '../../../db/index.ts';
import { checked, Id, invalid, longText, resource, Timestamp } from '../../../http/index.ts';
import { noteChange } from '../account_notices/jobs.ts';
import { keyRoutesOf } from '../keys/kind_routes.ts';
import { readGpgKey } from './rules.ts';

const GpgKey = resource('GpgKey', { id: Id, key: Type.String(), created_at: Timestamp });
const columns = columnsOf(GpgKey);

function keyReasons(text: string): string[] {
  const key = readGpgKey(text);
  return 'refusal' in key ? [key.refusal] : [];
}
const input = {
  key: longText(
    checked(Type.String({ description: 'Armored public key, as written by `gpg --armor --export`' }), keyReasons),
  ),
};

const keysOf = (db: Database, user_id: number) =>
  db.selectFrom('gpg_keys').select(columns).where('user_id', '=', user_id);

/** @throws ApiError 400 for a key that a user already has */
async function addKey(db: Database, user_id: number, given: { key: string }) {
  const key = readGpgKey(given.key);
  if ('refusal' in key) throw invalid({ key: [key.refusal] });
  try {
    return await db.transaction().execute(async (tx) => {
      await noteChange(tx, user_id, 'gpg_key_added', key.fingerprint.toString('hex'));
      return tx
        .insertInto('gpg_keys')
        .values({ user_id, key: key.text, fingerprint: key.fingerprint })
        .returning(columns)
        .executeTakeFirstOrThrow();
    });
  } catch (error) {
    if (isUniqueViolation(error, 'gpg_keys_fingerprint_key'))
      throw invalid({ fingerprint: ['has already been taken'] });
    throw error;
  }
}

export const gpgKeyRoutes = keyRoutesOf({
  table: 'gpg_keys',
  operation: 'GpgKey',
  missing: 'GPG Key',
  name: 'GPG key',
  article: 'a',
  reply: GpgKey,
  input,
  description: 'A key has at most 1,000,000 characters.',
  taken: 'fingerprint: has already been taken',
  revocable: true,
  rows: keysOf,
  add: addKey,
});
