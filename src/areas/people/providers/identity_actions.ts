/** The identities of a user, as they see them (docs/reference/sign_in_providers.md#linking-identities). */
import { sql } from 'kysely';
import { type Database, repeated } from '../../../db/index.ts';
import { notFound, unprocessable } from '../../../http/index.ts';
import type { Provider } from '../../../identity_providers/index.ts';

/** The names of the providers at which a user has an identity. */
export async function linkedProviders(db: Database, user_id: number): Promise<string[]> {
  const rows = await db
    .selectFrom('user_identities')
    .select('provider')
    .where('user_id', '=', user_id)
    .orderBy('provider')
    .execute();
  return rows.map(({ provider }) => provider);
}

/**
 * Removes an identity, unless it is the last way to sign in.
 * @param providers of the file
 * @throws ApiError 404, 422
 */
export async function unlinkIdentity(
  db: Database,
  user_id: number,
  provider: string,
  providers: readonly Provider[],
): Promise<void> {
  const others = providers.map(({ name }) => name).filter((name) => name !== provider);
  await repeated(db, async (tx) => {
    const { rows } = await sql<{ has_other: boolean }>`
      select password_digest is not null
             or exists (select from user_identities where user_id = users.id and provider = any(${others}::text[]))
             or exists (select from webauthn_credentials where user_id = users.id and is_passkey and disabled_at is null) as has_other
        from users where id = ${user_id} for no key update`.execute(tx);
    const removed = await tx
      .deleteFrom('user_identities')
      .where('user_id', '=', user_id)
      .where('provider', '=', provider)
      .returning('provider')
      .executeTakeFirst();
    if (!removed) throw notFound('Identity');
    if (!rows[0]!.has_other) throw unprocessable('This is the only way to sign in.');
  });
}
