/** Setting up codes that change with time (docs/reference/second_factors.md#authenticators). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { conflict, type Services, unprocessable } from '../../../http/index.ts';
import { type Actor, factorAdded } from './change_actions.ts';
import { wrongCode } from './code_actions.ts';
import { totpSecretOf } from './queries.ts';
import { newSecret, stepOfCode } from './rules.ts';

/**
 * Begins to set up codes: the secret is shown until a first code was given. A second call starts again with another secret.
 * @throws ApiError 409 if they are set up
 */
export async function beginTotp({ db, secrets }: Services, user_id: number): Promise<void> {
  const sealed = secrets.seal('TOTP secret', newSecret());
  const begun = await db
    .insertInto('totp_factors')
    .values({ user_id, secret: sealed })
    .onConflict((conflicting) =>
      conflicting
        .column('user_id')
        .doUpdateSet({ secret: sealed, created_at: sql<string>`now()` })
        .where('totp_factors.enabled_at', 'is', null),
    )
    .returning('user_id')
    .executeTakeFirst();
  if (!begun) throw conflict('The authenticator is set up already.');
}

/**
 * Enables codes, by a first one. The other sessions of the user end.
 * @returns recovery codes, if these are the first factor of the user
 * @throws ApiError 422 for a wrong code
 */
export async function enableTotp(services: Services, actor: Actor, code: string): Promise<string[] | undefined> {
  return services.db.transaction().execute(async (tx) => {
    const begun = await totpSecretOf(services, tx, actor.id);
    const step = begun && !begun.is_enabled ? stepOfCode(begun.secret, code) : undefined;
    if (step === undefined) throw wrongCode();
    return factorAdded(tx, actor, 'authenticator', () => enable(tx, actor.id, step));
  });
}

async function enable(tx: Database, user_id: number, step: number): Promise<void> {
  const enabled = await tx
    .updateTable('totp_factors')
    .set({ enabled_at: sql<string>`now()`, last_step: step })
    .where('user_id', '=', user_id)
    .where('enabled_at', 'is', null)
    .returning('user_id')
    .executeTakeFirst();
  if (!enabled) throw unprocessable('The authenticator is set up already.');
}
