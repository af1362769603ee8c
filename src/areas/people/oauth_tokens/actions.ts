/** Issuing, refreshing and revoking OAuth tokens (docs/reference/oauth_tokens.md). */
import { type SqlBool, sql } from 'kysely';
import {
  callerInJob,
  newTokenValue,
  type Outside,
  recordSignIn,
  takesPasswords,
  tokenDigest,
  userByPassword,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, type Services } from '../../../http/index.ts';
import { tellOfUser } from '../users/hook_actions.ts';
import { recordConsent } from './consent_actions.ts';
import { invalidGrant, lifetime_s, narrowed, refreshable_days, retry_s } from './rules.ts';

/** When and how a user signed in, for ID tokens. */
export interface SignedIn {
  authenticated_at: string | null;
  /** How (RFC 8176). */
  amr: readonly string[] | null;
}

/** What a token is given for. */
export interface Granted extends SignedIn {
  user_id: number;
  /** Null without an application. */
  application_id: number | null;
  scopes: readonly string[];
  /** The first token of those of which each replaced the one before; null for the first. */
  family_id: number | null;
}

export interface GivenToken {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token: string;
  scope: string;
  /** In seconds since 1970. */
  created_at: number;
}

/** A token with its row. */
export interface MadeToken {
  id: number;
  given: GivenToken;
  granted: Granted;
}

/** Makes a token. */
export async function giveToken(db: Database, granted: Granted): Promise<MadeToken> {
  const { user_id, application_id, scopes, family_id, authenticated_at, amr } = granted;
  const [access_token, refresh_token] = [newTokenValue(''), newTokenValue('')];
  const { id, created_at } = await db
    .insertInto('oauth_tokens')
    .values({
      ...{ user_id, application_id, family_id, authenticated_at },
      token_digest: tokenDigest(access_token),
      refresh_digest: tokenDigest(refresh_token),
      scopes: sql<string[]>`${scopes}::text[]`,
      amr: sql<string[] | null>`${amr}::text[]`,
      expires_at: sql<string>`now() + make_interval(secs => ${sql.lit(lifetime_s)})`,
    })
    .returning(['id', 'created_at'])
    .executeTakeFirstOrThrow();
  const since = Math.floor(Date.parse(created_at) / 1000);
  return {
    ...{ id, granted },
    given: {
      access_token,
      token_type: 'Bearer',
      expires_in: lifetime_s,
      refresh_token,
      scope: scopes.join(' '),
      created_at: since,
    },
  };
}

/** A password with what it is given for. */
export interface PasswordGrant {
  username: string;
  password: string;
  /** The client's IP address. */
  address: string;
  /** Waits for a directory. */
  outside: Outside;
  application_id: number | null;
  scopes: readonly string[];
}

/**
 * Issues a token for a username or confirmed email address with its password.
 * @throws ApiError 400 for a wrong password and for users who may not sign in, 429 after too many attempts
 */
export async function tokenForPassword(
  services: Pick<Services, 'db' | 'url' | 'secrets' | 'sign_in' | 'askDirectories'>,
  { username, password, address, outside, application_id, scopes }: PasswordGrant,
): Promise<MadeToken> {
  if (!(await takesPasswords(services.db))) throw invalidGrant();
  const tell = (user_id: number) => tellOfUser(services.db, 'user_failed_login', user_id);
  const user = await userByPassword(services, {
    login: username,
    password,
    address,
    outside,
    refused: tell,
    alone: true,
  }).catch((error: unknown) => {
    // Knowledge of the password alone does not reveal that an account is blocked.
    throw error instanceof ApiError && [401, 403].includes(error.status) ? invalidGrant() : error;
  });
  if (user.user_type !== 'human') throw invalidGrant();
  await recordSignIn(services.db, user.id, address);
  const granted = { user_id: user.id, application_id, scopes, family_id: null, authenticated_at: null, amr: null };
  return services.db.transaction().execute(async (tx) => {
    if (application_id !== null) await recordConsent(tx, { user_id: user.id, application_id, scopes });
    return giveToken(tx, granted);
  });
}

/**
 * Refuses who may not sign in any more.
 * @throws ApiError 400
 */
export async function refuseFormer(services: Pick<Services, 'db' | 'url'>, user_id: number): Promise<void> {
  if (!(await callerInJob(services, user_id))) throw invalidGrant();
}

const isDue = sql<SqlBool>`created_at <= now() - make_interval(days => ${sql.lit(refreshable_days)})`;

/**
 * Makes other changes of the tokens of a user wait until the transaction ends, and waits for them: a token that another request makes at the same time would survive
 * the end of its family. What is read afterwards is as it is now.
 */
export async function lockTokensOf(tx: Database, user_id: number): Promise<void> {
  await sql`select from users where id = ${user_id} for no key update`.execute(tx);
}

/**
 * The same before an application gets a token. Its deletion waits, too.
 * @throws ApiError 400 if it was deleted meanwhile
 */
export async function lockGrant(
  tx: Database,
  { user_id, application_id }: Pick<Granted, 'user_id' | 'application_id'>,
): Promise<void> {
  await lockTokensOf(tx, user_id);
  if (application_id === null) return;
  const { rows } = await sql`select from oauth_applications where id = ${application_id} for key share`.execute(tx);
  if (rows.length === 0) throw invalidGrant();
}

/** Ends a token and all that replaced it or that it replaced. Their user is locked. */
export const revokeFamily = (tx: Database, family_id: number) =>
  sql`update oauth_tokens set revoked = true where coalesce(family_id, id) = ${family_id} and not revoked`.execute(tx);

/** A refresh token with what is asked for. */
export interface Refreshing {
  refresh_token: string;
  /** Of the client that sends it; null for none. */
  application_id: number | null;
  /** Names of scopes; undefined for those that the token has. */
  scopes: readonly string[] | undefined;
}

interface OldToken extends Granted {
  id: number;
  revoked: boolean;
  was_rotated: boolean;
  is_retry: boolean;
}

/**
 * Refreshes a token: creates a new one and revokes the old one. Of two requests at once only one succeeds. A refresh token that was used before has been stolen, and
 * the whole family ends, unless it comes again before its successor was used, as from a client that did not get the answer.
 * @throws ApiError 400
 */
export async function tokenForRefresh(
  services: Pick<Services, 'db' | 'url'>,
  { refresh_token, application_id, scopes }: Refreshing,
): Promise<MadeToken> {
  const digest = tokenDigest(refresh_token);
  const made = await services.db.transaction().execute(async (tx) => {
    const holder = await tx
      .selectFrom('oauth_tokens')
      .select('user_id')
      .where('refresh_digest', '=', digest)
      .executeTakeFirst();
    if (!holder) throw invalidGrant();
    await lockGrant(tx, { ...holder, application_id });
    const { rows } = await sql<OldToken>`
      select old.id, old.user_id, old.application_id, old.scopes, coalesce(old.family_id, old.id) as family_id, old.authenticated_at, old.amr, old.revoked,
             old.rotated_at is not null as was_rotated,
             coalesce(old.rotated_at > clock_timestamp() - make_interval(secs => ${sql.lit(retry_s)}), false) and not exists (
               select from oauth_tokens later
                where coalesce(later.family_id, later.id) = coalesce(old.family_id, old.id) and later.id > old.id
                  and (later.last_used_at is not null or later.rotated_at is not null)) as is_retry
        from oauth_tokens old where old.refresh_digest = ${digest} and not ${isDue}`.execute(tx);
    const [old] = rows;
    if (!old || old.application_id !== application_id) throw invalidGrant();
    const { id, family_id, revoked, was_rotated, is_retry } = old;
    if (revoked) {
      if (was_rotated && !is_retry) await revokeFamily(tx, family_id!);
      return undefined;
    }
    await refuseFormer({ ...services, db: tx }, old.user_id);
    const narrow = narrowed(old.scopes, scopes);
    await sql`update oauth_tokens set revoked = true, rotated_at = clock_timestamp() where id = ${id}`.execute(tx);
    return giveToken(tx, { ...old, scopes: narrow });
  });
  // Refused outside of the transaction, which has ended the family.
  if (!made) throw invalidGrant();
  return made;
}

const notYoursText = 'You are not authorized to revoke this token.';
const notYours = () =>
  new ApiError(403, { error: 'unauthorized_client', error_description: notYoursText, message: notYoursText });

/**
 * Revokes a token by its own value, or by that of its refresh token together with its family. An unknown token is not an error.
 * @param application_id of the client that asks; null for none
 * @throws ApiError 403 for a token of an application that does not ask
 */
export async function revokeOauthToken(db: Database, value: string, application_id: number | null): Promise<void> {
  const digest = tokenDigest(value);
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<
      Pick<OldToken, 'id' | 'user_id' | 'application_id'> & { family_id: number; is_refresh: boolean }
    >`
      select id, user_id, application_id, coalesce(family_id, id) as family_id, refresh_digest = ${digest} as is_refresh
        from oauth_tokens where token_digest = ${digest} or refresh_digest = ${digest}`.execute(tx);
    const [token] = rows;
    if (!token) return;
    if (token.application_id !== null && token.application_id !== application_id) throw notYours();
    await lockTokensOf(tx, token.user_id);
    if (token.is_refresh) await revokeFamily(tx, token.family_id);
    else await tx.updateTable('oauth_tokens').set({ revoked: true }).where('id', '=', token.id).execute();
  });
}

/** Deletes tokens that can no longer be used or refreshed. */
export async function deleteOldTokens(db: Database): Promise<void> {
  await db.deleteFrom('oauth_tokens').where(isDue).execute();
}
