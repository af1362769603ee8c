/** Claims: email addresses that are not confirmed yet. */
import { type RawBuilder, sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { invalid } from '../../../http/index.ts';
import { confirmation_days, pause_days } from './rules.ts';

const daysAgo = (days: number): RawBuilder<string> => sql`now() - make_interval(days => ${sql.lit(days)})`;

/** A predicate: the confirmation link has expired, and the claim may be deleted. */
export const isExpired = (sent_at: 'confirmation_sent_at' | 'unconfirmed_email_sent_at'): RawBuilder<boolean> =>
  sql`${sql.ref(sent_at)} < ${daysAgo(confirmation_days)}`;

/** The columns of a user without a pending change of the primary address. */
export const noRequest = { unconfirmed_email: null, unconfirmed_email_seed: null, unconfirmed_email_sent_at: null };

/**
 * A predicate: another user has the address, confirmed or not, or has requested it as their primary one.
 * @param email null: no address
 * @param user_id null: the user does not exist yet
 */
export const isTaken = (email: string | null, user_id: number | null): RawBuilder<boolean> => sql`(
  exists (select from emails where email = ${email} and user_id is distinct from ${user_id}::bigint)
  or exists (select from users where unconfirmed_email = ${email} and id is distinct from ${user_id}::bigint))`;

/**
 * Records that a user claims an address without having confirmed it. They can add it again only during its first three
 * days, or after a pause: otherwise they could block the address of another person forever.
 * @param tx the transaction that adds the address
 * @throws ApiError 400 during the pause
 */
export async function startClaim(tx: Database, user_id: number, email: string): Promise<void> {
  const { rows } = await sql<{ is_over: boolean }>`
    insert into claimed_emails as claim (user_id, email) values (${user_id}, ${email})
        on conflict (user_id, email) do update
       set claimed_at = case when claim.claimed_at < ${daysAgo(confirmation_days + pause_days)} then now() else claim.claimed_at end
    returning claimed_at < ${daysAgo(confirmation_days)} as is_over`.execute(tx);
  const reason = `was not confirmed within ${confirmation_days} days and cannot be added again for ${pause_days} days`;
  if (rows[0]!.is_over) throw invalid({ email: [reason] });
}

/**
 * Deletes unconfirmed entries and withdraws changes of the primary address. The primary address of a person stays; a service account gets its own address back.
 * @param isEnded a predicate on rows of `emails`
 * @param isWithdrawn a predicate on rows of `users`
 */
async function endClaims(tx: Database, isEnded: RawBuilder<boolean>, isWithdrawn: RawBuilder<boolean>): Promise<void> {
  const { rows: ended } = await sql<{ user_id: number; is_primary: boolean }>`
    delete from emails
     using users
     where emails.confirmed_at is null and ${isEnded}
       and users.id = emails.user_id and (not emails.is_primary or users.user_type = 'service_account')
    returning emails.user_id, emails.is_primary`.execute(tx);
  const accounts = ended.filter(({ is_primary }) => is_primary).map(({ user_id }) => user_id);
  if (accounts.length > 0) await restoreOwnAddress(tx, accounts);
  await tx.updateTable('users').set(noRequest).where('unconfirmed_email', 'is not', null).where(isWithdrawn).execute();
}

async function restoreOwnAddress(tx: Database, accounts: readonly number[]): Promise<void> {
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

/**
 * Ends the claims of all users to an address, for a person who has proved access to it and gets an account with it.
 * @param tx the transaction that creates the account
 */
export const endClaimsTo = (tx: Database, email: string): Promise<void> =>
  endClaims(tx, sql`emails.email = ${email}`, sql`unconfirmed_email = ${email}`);

/** Ends claims whose links have expired, and deletes the records of claims that may be made again. */
export async function endExpiredClaims(tx: Database): Promise<void> {
  await endClaims(tx, isExpired('confirmation_sent_at'), isExpired('unconfirmed_email_sent_at'));
  await sql`delete from claimed_emails where claimed_at < ${daysAgo(confirmation_days + pause_days)}`.execute(tx);
}
