/** Actions of confirmation links. */
import { sql } from 'kysely';
import { type Database, isUniqueViolation, repeated } from '../../../db/index.ts';
import { lockUser } from './actions.ts';
import { movePrimaryEmail, recordConfirmation } from './address_actions.ts';
import { isExpired } from './claim_actions.ts';
import { confirmEmail, confirmNewPrimary } from './jobs.ts';
import { takePrimaryEmail } from './primary_actions.ts';

/** The address of a confirmation link. */
interface Claim {
  user_id: number;
  /** Null for a new primary address, which has no row yet. */
  email_id: number | null;
  email: string;
  is_primary: boolean;
  is_confirmed: boolean;
  /** Whether delivery to it has failed since. */
  is_refused: boolean;
  is_expired: boolean;
}

export interface Outcome {
  /**
   * The outcome: the address is now confirmed (`confirmed`), was confirmed before (`known`), belongs to another user
   * (`taken`), its link has expired (`expired`), it is not confirmed yet (`waiting`), or it is no longer claimed
   * (`gone`).
   */
  result: 'confirmed' | 'known' | 'taken' | 'expired' | 'waiting' | 'gone';
  /** The address, if known. */
  email?: string;
}

async function readClaim(tx: Database, seed: string): Promise<Claim | undefined> {
  const { rows } = await sql<Claim>`
    select user_id, id as email_id, email, is_primary, confirmed_at is not null as is_confirmed, refused_at is not null as is_refused,
           ${isExpired('confirmation_sent_at')} as is_expired
      from emails where seed = ${seed}
    union all
    select id, null, unconfirmed_email, true, false, false, ${isExpired('unconfirmed_email_sent_at')}
      from users where unconfirmed_email_seed = ${seed}`.execute(tx);
  return rows[0];
}

/** Runs `act` on the claim of a link, with the addresses of its user locked. */
async function withClaim(
  db: Database,
  seed: string,
  act: (tx: Database, claim: Claim) => Promise<Outcome>,
): Promise<Outcome> {
  return repeated(db, async (tx) => {
    const user = await readClaim(tx, seed);
    if (!user) return { result: 'gone' };
    await lockUser(tx, user.user_id);
    // A concurrent request may have confirmed or deleted it before the lock.
    const claim = await readClaim(tx, seed);
    return claim ? act(tx, claim) : { result: 'gone' };
  });
}

/**
 * Confirms the address of a link.
 * @param seed the seed of the link
 */
export async function confirm(db: Database, seed: string): Promise<Outcome> {
  try {
    return await withClaim(db, seed, async (tx, claim) => {
      const { email, email_id, is_confirmed, is_refused, is_expired } = claim;
      if (is_confirmed && (!is_refused || is_expired)) return { result: 'known', email };
      if (is_expired) return { result: 'expired', email };
      if (is_confirmed && email_id !== null) {
        await recordConfirmation(tx, email_id);
        return { result: 'confirmed', email };
      }
      await confirmClaim(tx, claim, seed);
      return { result: 'confirmed', email };
    });
  } catch (error) {
    // No index prevents a pending primary address from equalling an address that another user adds at the same moment.
    if (!isUniqueViolation(error)) throw error;
    return { result: 'taken', email: (await readClaim(db, seed))?.email };
  }
}

async function confirmClaim(
  tx: Database,
  { user_id, email_id, email, is_primary }: Claim,
  seed: string,
): Promise<void> {
  const now = { confirmed_at: sql<string>`now()`, updated_at: sql<string>`now()` };
  if (email_id === null) await takeConfirmed(tx, user_id, email, seed);
  else if (is_primary) {
    await tx.updateTable('users').set(now).where('id', '=', user_id).execute();
    await movePrimaryEmail(tx, user_id);
  } else {
    await tx.updateTable('emails').set(now).where('id', '=', email_id).execute();
    await recordConfirmation(tx, email_id);
  }
}

/** The link stays valid for the address: the user may open it after a mail scanner did. */
async function takeConfirmed(tx: Database, user_id: number, email: string, seed: string): Promise<void> {
  await takePrimaryEmail(tx, user_id, email);
  // An existing row has a link of its own.
  await sql`update emails set seed = ${seed} where user_id = ${user_id} and is_primary and created_at = now()`.execute(
    tx,
  );
}

/**
 * Sends another link to replace an expired one. The old link stops working, so that each can request only one message.
 * @param seed the seed of the old link
 */
export const sendAgain = (db: Database, seed: string): Promise<Outcome> =>
  withClaim(db, seed, async (tx, { user_id, email_id, email, is_confirmed, is_expired }) => {
    if (is_confirmed) return { result: 'known', email };
    if (!is_expired) return { result: 'waiting', email };
    const renewed = { seed: sql<string>`gen_random_uuid()`, sent_at: sql<string>`now()` };
    if (email_id === null) {
      const columns = { unconfirmed_email_seed: renewed.seed, unconfirmed_email_sent_at: renewed.sent_at };
      await tx.updateTable('users').set(columns).where('id', '=', user_id).execute();
      await confirmNewPrimary.enqueue(tx, { user_id });
    } else {
      const columns = { seed: renewed.seed, confirmation_sent_at: renewed.sent_at };
      await tx.updateTable('emails').set(columns).where('id', '=', email_id).execute();
      await confirmEmail.enqueue(tx, { email_id });
    }
    return { result: 'waiting', email };
  });
