/** The second factors of a user. */
import { sql } from 'kysely';
import { hasSecondFactor, secondFactorGrace_hours } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';

export interface Totp {
  created_at: string;
  /** Null until a first code was given. */
  enabled_at: string | null;
  last_used_at: string | null;
}

export interface SecurityKey {
  id: number;
  name: string;
  is_passkey: boolean;
  created_at: string;
  last_used_at: string | null;
  disabled_at: string | null;
}

export interface Factors {
  totp: Totp | undefined;
  keys: SecurityKey[];
  /** How many recovery codes are left. */
  codes: number;
  has_any: boolean;
  /** Within how many hours a user must have one; null for those who need none. */
  grace_hours: number | null;
}

/** The factors of a user, which are few. */
export async function factorsOf(db: Database, user_id: number): Promise<Factors> {
  const { rows } = await sql<Omit<Factors, 'totp' | 'keys'>>`
    select (select count(*) from recovery_codes where recovery_codes.user_id = users.id and used_at is null) as codes,
           ${hasSecondFactor} as has_any, ${secondFactorGrace_hours} as grace_hours from users where users.id = ${user_id}`.execute(
    db,
  );
  const totp = await db
    .selectFrom('totp_factors')
    .select(['created_at', 'enabled_at', 'last_used_at'])
    .where('user_id', '=', user_id)
    .executeTakeFirst();
  const keys = await db
    .selectFrom('webauthn_credentials')
    .select(['id', 'name', 'is_passkey', 'created_at', 'last_used_at', 'disabled_at'])
    .where('user_id', '=', user_id)
    .orderBy('id')
    .execute();
  return { ...rows[0]!, totp, keys };
}

/** The secret of a user's codes; undefined if they have none, or it was encrypted with another key. */
export async function totpSecretOf(
  { secrets }: Pick<Services, 'secrets'>,
  db: Database,
  user_id: number,
): Promise<{ secret: string; is_enabled: boolean } | undefined> {
  const row = await db
    .selectFrom('totp_factors')
    .select(['secret', 'enabled_at'])
    .where('user_id', '=', user_id)
    .executeTakeFirst();
  const secret = row && secrets.unseal('TOTP secret', row.secret);
  return row && secret !== undefined ? { secret, is_enabled: row.enabled_at !== null } : undefined;
}
