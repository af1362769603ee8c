/** The state of sign-ins that have led a browser to a provider (docs/reference/sign_in_providers.md#the-round-trip). */
import { sql } from 'kysely';
import { type Device, newTokenValue, refuseTooOften, tokenDigest } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';
import type { OidcRound, SamlRound } from '../../../identity_providers/index.ts';

/** What a browser has begun. */
export interface Round {
  /** Where it goes on, and a form that waits; empty texts for none. */
  to: string;
  kept: string;
  /** The user who links an identity; undefined for a sign-in. */
  links: number | undefined;
  protocol: OidcRound | SamlRound;
}

/** For how long the browser may be away. */
export const away_minutes = 10;
const limit = { name: 'provider_sign_ins_from_address', most: 300, window_s: 600 };

/**
 * Keeps the state of a sign-in.
 * @returns the handle for the cookie of the browser
 * @throws ApiError 429 for an address that begins too many
 */
export async function keepRound(
  { db, secrets }: Services,
  device: Device,
  provider: string,
  round: Round,
): Promise<string> {
  await refuseTooOften(db, { ...limit, who: device.address });
  const handle = newTokenValue('');
  const sealed = secrets.seal('provider sign-in', JSON.stringify(round));
  await sql`
    insert into provider_sign_ins (handle_digest, provider, round)
    values (${tokenDigest(handle)}, ${provider}, ${sealed})`.execute(db);
  return handle;
}

/**
 * Takes the state of the sign-in that a cookie names. It counts once, whatever comes of it, and for the provider with which it has begun.
 * @returns undefined without one
 */
export async function takeRound(
  { db, secrets }: Services,
  provider: string,
  handle: string | undefined,
): Promise<Round | undefined> {
  if (handle === undefined) return undefined;
  const { rows } = await sql<{ provider: string; round: Buffer; is_over: boolean }>`
    delete from provider_sign_ins where handle_digest = ${tokenDigest(handle)}
    returning provider, round, created_at < now() - make_interval(mins => ${sql.lit(away_minutes)}) as is_over`.execute(
    db,
  );
  const [kept] = rows;
  if (!kept || kept.is_over || kept.provider !== provider) return undefined;
  const text = secrets.unseal('provider sign-in', kept.round);
  return text === undefined ? undefined : JSON.parse(text);
}
