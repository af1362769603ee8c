/** Checks that a server makes before it works with a database. */
import type { Database } from '../db/index.ts';
import { fingerprintOf, type Secrets } from '../secrets/index.ts';
import { OperatorError } from './command.ts';

/** The message for an operator whose server has the wrong secret key. */
export const otherKey =
  'The database was used with another secret key. Give this server the same key: the file secret.key in the data folder, or COPPICE_SECRET_KEY.';

/**
 * Stores a fingerprint of the secret key at the first start, and refuses another key later: encrypted values would be unreadable, and links in mail would stop working.
 * @throws OperatorError
 */
export async function claimInstance(db: Database, secrets: Secrets): Promise<void> {
  const secret_fingerprint = fingerprintOf(secrets);
  await db
    .insertInto('instance')
    .values({ secret_fingerprint })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const known = await db.selectFrom('instance').select('secret_fingerprint').executeTakeFirstOrThrow();
  if (!known.secret_fingerprint.equals(secret_fingerprint)) throw new OperatorError(otherKey);
}
