/** Audit events of signing in and out (docs/reference/audit_events.md#events). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { type Actor, addressOf, stranger } from '../../../foundation/actors.ts';
import { audit } from '../../instance/audit_events/index.ts';

const entityOf = (id: number) => ({ type: 'User' as const, id });

/** A person who has just proved who they are, as the author of events. */
async function authorOf(tx: Database, user_id: number, address: string): Promise<Actor> {
  const { name, email } = await tx
    .selectFrom('users')
    .select(['name', 'email'])
    .where('id', '=', user_id)
    .executeTakeFirstOrThrow();
  return { id: user_id, name, email, class: 'User', ip: addressOf(address) };
}

/**
 * Writes that somebody has signed in. What a provider has proved is written where the provider is asked.
 * @param methods as in `amr` of RFC 8176
 */
export async function auditSignIn(
  tx: Database,
  { user_id, methods, address }: { user_id: number; methods: readonly string[]; address: string },
): Promise<void> {
  const [first] = methods;
  const names = {
    pwd: ['authenticated_with_password', 'Signed in with a password'],
    otp: ['authenticated_with_two_factor', 'Signed in with a second factor'],
    hwk: ['authenticated_with_webauthn', 'Signed in with a passkey or security key'],
  } as const;
  if (first === undefined || !(first in names)) return;
  const [event_name, custom_message] = names[first as keyof typeof names];
  await audit(
    tx,
    { event_name, entity: entityOf(user_id), details: { custom_message } },
    await authorOf(tx, user_id, address),
  );
}

/** Writes that a password was refused. What was typed is written only if an account has it as its name or address. */
export async function auditRefusedPassword(
  db: Database,
  { login, address }: { login: string; address: string },
): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select id from users
     where username = ${login} or id = (select user_id from emails where email = ${login} and confirmed_at is not null)`.execute(
    db,
  );
  const details = { custom_message: 'Sign-in with a password refused' };
  const event_name = 'login_failed_with_standard_authentication';
  const who = stranger(address);
  await db
    .transaction()
    .execute((tx) =>
      rows[0]
        ? audit(tx, { event_name, entity: entityOf(rows[0].id), details }, { ...who, name: login })
        : audit(tx, { event_name, entity: 'instance', details }, who),
    );
}

/** Writes that a second factor was refused after the password was right. */
export const auditRefusedFactor = (
  db: Database,
  { user_id, kind, address }: { user_id: number; kind: 'otp' | 'webauthn'; address: string },
): Promise<void> =>
  db.transaction().execute((tx) =>
    audit(
      tx,
      {
        event_name: `login_failed_with_${kind}_authentication`,
        entity: entityOf(user_id),
        details: { custom_message: 'Second factor refused' },
      },
      stranger(address),
    ),
  );

/** Writes that a user has signed out. */
export const auditSignOut = (tx: Database, user_id: number): Promise<void> =>
  audit(tx, {
    event_name: 'user_signed_out',
    entity: entityOf(user_id),
    details: { custom_message: 'Signed out' },
  });
