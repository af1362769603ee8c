/** Queries for the key that signs ID tokens. */
import type { Database } from '../../../db/index.ts';
import type { PublishedKey } from './rules.ts';

/** The purpose with which the private key is sealed. */
export const keyPurpose = 'ID token key';

/** The key of the server; undefined until the first token is made. */
export const storedKey = (db: Database) =>
  db
    .selectFrom('id_token_keys')
    .select(['id', 'private_key'])
    .select((q) => q.ref('public_key').$castTo<PublishedKey>().as('public_key'))
    .executeTakeFirst();
