/** Claims: email addresses that are not confirmed yet. */
import { type RawBuilder, sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { confirmation_days } from './rules.ts';

/** A predicate: the confirmation link has expired, and the claim may be deleted. */
export const isExpired = (sent_at: 'confirmation_sent_at' | 'unconfirmed_email_sent_at'): RawBuilder<boolean> =>
  sql`${sql.ref(sent_at)} < now() - make_interval(days => ${sql.lit(confirmation_days)})`;

/** The columns of a user without a pending change of the primary address. */
export const noRequest = { unconfirmed_email: null, unconfirmed_email_seed: null, unconfirmed_email_sent_at: null };

/**
 * A predicate: another user has confirmed an address, or it is the primary address of another person. Other claims have no effect on other users.
 * @param email null: no address
 * @param user_id null: the user does not exist yet
 */
export const isTaken = (email: string | null, user_id: number | null): RawBuilder<boolean> => sql`exists (
  select from emails join users on users.id = emails.user_id
   where emails.email = ${email} and emails.user_id is distinct from ${user_id}::bigint
     and (emails.confirmed_at is not null or (emails.is_primary and users.user_type <> 'service_account')))`;

/**
 * Ends the claims of other users to an address that a user has confirmed. A service account whose primary address it was gets its own address back.
 * @param tx the transaction that confirms the address
 */
export async function endClaims(tx: Database, email_id: number): Promise<void> {
  const { rows: ended } = await sql<{ user_id: number; is_primary: boolean }>`
    delete from emails claim
     using emails own, users
     where own.id = ${email_id} and own.confirmed_at is not null and claim.email = own.email and claim.confirmed_at is null
       and users.id = claim.user_id and (not claim.is_primary or users.user_type = 'service_account')
    returning claim.user_id, claim.is_primary`.execute(tx);
  const accounts = ended.filter(({ is_primary }) => is_primary).map(({ user_id }) => user_id);
  if (accounts.length === 0) return;
  await sql`
    insert into emails (user_id, email, is_primary, confirmed_at)
    select id, 'service_account_' || id || '@noreply.invalid', false, now() from users
     where id = any(${ofAnyLength(accounts, 'bigint[]')}) and not exists (select from emails where user_id = users.id and confirmed_at is not null)`.execute(
    tx,
  );
  await sql`
    with own as (
      update emails set is_primary = true, updated_at = now()
       where id in (select distinct on (user_id) id from emails
                     where user_id = any(${ofAnyLength(accounts, 'bigint[]')}) and confirmed_at is not null order by user_id, id)
      returning user_id, email)
    update users set email = own.email, updated_at = now() from own where users.id = own.user_id`.execute(tx);
}
