/** Codes that people give to applications, and the tokens that they are exchanged for (docs/reference/oauth_tokens.md#asking-a-person). */
import { sql } from 'kysely';
import { newTokenValue, tokenDigest } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import {
  giveToken,
  lockGrant,
  lockTokensOf,
  type MadeToken,
  refuseFormer,
  revokeFamily,
  type SignedIn,
} from '../oauth_tokens/actions.ts';
import { type Consent, recordConsent } from '../oauth_tokens/consent_actions.ts';
import { invalidGrant } from '../oauth_tokens/rules.ts';
import { type Asked, code_minutes, provesPossession } from './rules.ts';

/**
 * Makes a code, and records the consent.
 * @param signedIn when and how the user signed in
 * @returns the code
 */
export function giveCode(
  db: Database,
  { user_id, application_id }: Omit<Consent, 'scopes'>,
  { redirect_uri, scopes, code_challenge, nonce }: Asked,
  { authenticated_at, amr }: SignedIn,
): Promise<string> {
  return db.transaction().execute(async (tx) => {
    await recordConsent(tx, { user_id, application_id, scopes });
    const code = newTokenValue('');
    await sql`
      insert into oauth_codes (application_id, user_id, digest, redirect_uri, scopes, code_challenge, nonce, authenticated_at, amr)
      values (${application_id}, ${user_id}, ${tokenDigest(code)}, ${redirect_uri}, ${scopes}::text[], ${code_challenge}, ${nonce}, ${authenticated_at}, ${amr}::text[])`.execute(
      tx,
    );
    return code;
  });
}

/** A code as an application sends it. */
export interface Exchange {
  code: string;
  application_id: number;
  redirect_uri: string;
  code_verifier: string;
}

interface CodeRow extends Consent {
  id: number;
  redirect_uri: string;
  code_challenge: string | null;
  nonce: string | null;
  authenticated_at: string;
  amr: string[];
  token_id: number | null;
  is_due: boolean;
}

/** A token, and what its ID token repeats. */
export interface MadeForCode extends MadeToken {
  nonce: string | null;
}

/**
 * Exchanges a code for a token, once: a second use ends what the first one gave. A code that another client sends, or without the proof, stays as it is.
 * @throws ApiError 400
 */
export async function exchangeCode(
  services: Pick<Services, 'db' | 'url'>,
  { code, application_id, redirect_uri, code_verifier }: Exchange,
): Promise<MadeForCode> {
  const digest = tokenDigest(code);
  const made = await services.db.transaction().execute(async (tx) => {
    const giver = await tx.selectFrom('oauth_codes').select('user_id').where('digest', '=', digest).executeTakeFirst();
    if (!giver) throw invalidGrant();
    await lockGrant(tx, { ...giver, application_id });
    const { rows } = await sql<CodeRow>`
      select id, user_id, application_id, redirect_uri, scopes, code_challenge, nonce, authenticated_at, amr, token_id,
             created_at < now() - make_interval(mins => ${sql.lit(code_minutes)}) as is_due
        from oauth_codes where digest = ${digest}`.execute(tx);
    const [row] = rows;
    if (!row || row.application_id !== application_id) throw invalidGrant();
    if (row.token_id !== null) {
      await revokeFamily(tx, row.token_id);
      return undefined;
    }
    if (row.is_due || row.redirect_uri !== redirect_uri) throw invalidGrant();
    if (!provesPossession(row.code_challenge, code_verifier)) throw invalidGrant();
    await refuseFormer({ ...services, db: tx }, row.user_id);
    const { user_id, scopes, authenticated_at, amr, nonce } = row;
    const token = await giveToken(tx, { user_id, application_id, scopes, authenticated_at, amr, family_id: null });
    await tx.updateTable('oauth_codes').set({ token_id: token.id }).where('id', '=', row.id).execute();
    return { ...token, nonce };
  });
  // Refused outside of the transaction, which has ended the tokens.
  if (!made) throw invalidGrant();
  return made;
}

/**
 * Ends all that a user has given to an application.
 * @returns whether there was anything
 */
export function withdrawConsent(db: Database, { user_id, application_id }: Omit<Consent, 'scopes'>): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    await lockTokensOf(tx, user_id);
    const of = sql`user_id = ${user_id} and application_id = ${application_id}`;
    const { rows } = await sql`delete from oauth_consents where ${of} returning application_id`.execute(tx);
    await sql`delete from oauth_codes where ${of}`.execute(tx);
    await sql`delete from oauth_device_codes where ${of}`.execute(tx);
    await sql`update oauth_tokens set revoked = true where ${of} and not revoked`.execute(tx);
    return rows.length > 0;
  });
}
