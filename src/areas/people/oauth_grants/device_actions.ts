/** Devices without a browser: their codes, what a person decides elsewhere, and the token (docs/reference/oauth_tokens.md#devices). */
import { sql } from 'kysely';
import { newTokenValue, tokenDigest, type Visitor } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { notFound, type Services } from '../../../http/index.ts';
import { type Client, ownerName } from '../applications/queries.ts';
import { giveToken, lockGrant, type MadeToken, refuseFormer } from '../oauth_tokens/actions.ts';
import { recordConsent } from '../oauth_tokens/consent_actions.ts';
import { invalidGrant, refused } from '../oauth_tokens/rules.ts';
import { device_s, newUserCode } from './device_rules.ts';
import { signInOf } from './queries.ts';

/** The codes of a device that has begun to wait. */
export interface WaitingDevice {
  device_code: string;
  user_code: string;
}

/** Lets a device wait for a person. */
export async function addDevice(
  db: Database,
  application_id: number,
  scopes: readonly string[],
): Promise<WaitingDevice> {
  const [device_code, user_code] = [newTokenValue(''), newUserCode()];
  const { rows } = await sql`
    insert into oauth_device_codes (application_id, device_digest, user_digest, scopes, interval_s)
    values (${application_id}, ${tokenDigest(device_code)}, ${tokenDigest(user_code)}, ${scopes}::text[], ${device_s.interval})
    on conflict (user_digest) do nothing returning id`.execute(db);
  return rows.length > 0 ? { device_code, user_code } : addDevice(db, application_id, scopes);
}

const isWaiting = sql<boolean>`
  (oauth_device_codes.user_id is null and oauth_device_codes.created_at > now() - make_interval(secs => ${sql.lit(device_s.lasts)}))`;

/** A device that waits for a person. */
export interface AskingDevice extends Pick<Client, 'name' | 'owner'> {
  id: number;
  application_id: number;
  scopes: string[];
}

/** The device with a code; undefined without one that waits. */
export async function deviceWith(db: Database, user_code: string): Promise<AskingDevice | undefined> {
  const { rows } = await sql<AskingDevice>`
    select oauth_device_codes.id, application_id, oauth_device_codes.scopes, name,
           ${ownerName} as owner
      from oauth_device_codes join oauth_applications on oauth_applications.id = application_id
     where user_digest = ${tokenDigest(user_code)} and ${isWaiting}`.execute(db);
  return rows[0];
}

/**
 * Records what a person has decided about a device.
 * @throws ApiError 404 if it does not wait any more
 */
export async function decideDevice(
  { db }: Pick<Services, 'db'>,
  { caller, user_code, agrees }: { caller: Visitor; user_code: string; agrees: boolean },
): Promise<void> {
  const { authenticated_at, amr } = await signInOf(db, caller.session.id);
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ application_id: number; scopes: string[] }>`
      update oauth_device_codes
         set user_id = ${caller.id}, denied = ${!agrees}, authenticated_at = ${authenticated_at}, amr = ${amr}::text[]
       where user_digest = ${tokenDigest(user_code)} and ${isWaiting}
      returning application_id, scopes`.execute(tx);
    if (!rows[0]) throw notFound('Code');
    if (agrees) await recordConsent(tx, { user_id: caller.id, ...rows[0] });
  });
}

interface PolledRow {
  id: number;
  user_id: number | null;
  scopes: string[];
  denied: boolean;
  authenticated_at: string | null;
  amr: string[] | null;
  token_id: number | null;
  is_due: boolean;
  is_early: boolean;
}

/** What a device is told that gets no token. */
const answers = {
  authorization_pending: 'The authorization request is still pending.',
  slow_down: 'The authorization request is still pending, and the device asks too often.',
  access_denied: 'The resource owner denied the request.',
  expired_token: 'The device code has expired.',
} as const;

/**
 * Answers a device that asks whether the person has decided.
 * @throws ApiError 400 until they have agreed, and after the token was given
 */
export async function tokenForDevice(
  services: Pick<Services, 'db' | 'url'>,
  application_id: number,
  device_code: string,
): Promise<MadeToken> {
  const answer = await services.db.transaction().execute(async (tx) => {
    const { rows } = await sql<PolledRow>`
      select id, user_id, scopes, denied, authenticated_at, amr, token_id,
             created_at < now() - make_interval(secs => ${sql.lit(device_s.lasts)}) as is_due,
             coalesce(polled_at > clock_timestamp() - make_interval(secs => interval_s), false) as is_early
        from oauth_device_codes where device_digest = ${tokenDigest(device_code)} and application_id = ${application_id} for update`.execute(
      tx,
    );
    const [row] = rows;
    if (!row || row.token_id !== null) throw invalidGrant();
    if (row.is_due) return 'expired_token';
    if (row.denied) return 'access_denied';
    await sql`
      update oauth_device_codes set polled_at = clock_timestamp(), interval_s = interval_s + ${row.is_early ? device_s.interval : 0}
       where id = ${row.id}`.execute(tx);
    if (row.is_early) return 'slow_down';
    if (row.user_id === null) return 'authorization_pending';
    const { user_id, scopes, authenticated_at, amr } = row;
    await lockGrant(tx, { user_id, application_id });
    await refuseFormer({ ...services, db: tx }, user_id);
    const made = await giveToken(tx, { user_id, application_id, scopes, authenticated_at, amr, family_id: null });
    await tx.updateTable('oauth_device_codes').set({ token_id: made.id }).where('id', '=', row.id).execute();
    return made;
  });
  // Refused outside of the transaction, which has counted the question.
  if (typeof answer === 'string') throw refused(answer, answers[answer]);
  return answer;
}
