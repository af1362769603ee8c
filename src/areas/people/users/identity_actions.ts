/** Identities: the accounts of users at external providers. */
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import { found, invalid } from '../../../http/index.ts';

export interface Identity {
  provider: string;
  extern_uid: string;
}

/**
 * Sets the identity of a user at a provider.
 * @param tx a transaction
 * @throws ApiError 400 if it belongs to another user
 */
export async function setIdentity(tx: Database, user_id: number, { provider, extern_uid }: Identity): Promise<void> {
  const identity = tx
    .insertInto('user_identities')
    .values({ user_id, provider, extern_uid })
    .onConflict((conflict) => conflict.columns(['user_id', 'provider']).doUpdateSet({ extern_uid }));
  await identity.execute().catch((error: unknown) => {
    throw isUniqueViolation(error, 'user_identities_extern_uid_key')
      ? invalid({ extern_uid: ['has already been taken'] })
      : error;
  });
}

/**
 * Removes the identity of a user at a provider.
 * @throws ApiError 404
 */
export async function removeIdentity(db: Database, user_id: number, provider: string): Promise<void> {
  const user = await db.selectFrom('users').select('id').where('id', '=', user_id).executeTakeFirst();
  const { id } = found('User', user);
  const removed = db.deleteFrom('user_identities').where('user_id', '=', id).where('provider', '=', provider);
  found('Identity', await removed.returning('provider').executeTakeFirst());
}
