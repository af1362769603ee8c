/** Signing in with a password, for the few pages that need it. Everything else takes tokens, which cannot be guessed. */
import { createHash } from 'node:crypto';
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import { stranger } from '../foundation/actors.ts';
import type { Caller } from '../http/endpoint.ts';
import { ApiError, unauthorized } from '../http/errors.ts';
import type { Plan } from '../http/plans.ts';
import type { Services } from '../services/index.ts';
import { type Browser, isKnownTo } from './browsers.ts';
import { callerFrom, refuseInactive, type User, userColumns } from './callers.ts';
import { leftAfter, takeBack, tooManyAttempts } from './limits.ts';
import { isPassword, passwordDigest } from './passwords.ts';
import { planInForce } from './plans.ts';
import { passwordSuffices } from './second_factors.ts';

export interface SignIn {
  /** A username or a confirmed email address. */
  login: string;
  password: string;
  /** The client's IP address. */
  address: string;
  /** Set by clients that show pages. */
  browser?: Browser | undefined;
  /** Called with a user who gave the right password and is refused because they are not active. */
  refused?(user_id: number): Promise<void>;
  /** Whether a user who was deactivated becomes active by signing in, as in a browser. */
  reactivates?: true;
  /** Whether no second factor can be asked for: those who have one, or must have one, are refused as for a wrong password. */
  alone?: true;
  /** Waits for another system without a place among the requests that are worked on. */
  outside?: Outside;
}

/** Runs work that waits for another system. */
export type Outside = <T>(work: () => Promise<T>) => Promise<T>;

/** The limits of attempts per account and per client address. */
const limits = {
  account: { name: 'password_guesses_of_account', most: 10 },
  address: { name: 'password_guesses_from_address', most: 50 },
};
const window_s = 600;

/** Longer text is cut off: no password has as many characters. */
const maximum_characters = 1000;

/** A user with what callers need besides. */
export type Account = User & Pick<AccountRow, 'counted' | 'plan'>;

type AccountRow = User & {
  password_digest: string | null;
  current_sign_in_ip: string | null;
  last_sign_in_ip: string | null;
  password_suffices: boolean;
  counted: boolean;
  plan: Plan;
};

async function accountWhere(db: Kysely<DB>, isIt: RawBuilder<SqlBool>): Promise<AccountRow | undefined> {
  const { rows } = await sql<AccountRow>`
    select ${userColumns}, password_digest, current_sign_in_ip, last_sign_in_ip, ${passwordSuffices} as password_suffices,
           (select counts_requests from application_settings) as counted, ${planInForce} as plan from users
     where ${isIt}`.execute(db);
  return rows[0];
}

async function userOf(db: Kysely<DB>, login: string): Promise<AccountRow | undefined> {
  if (login.includes('\0')) return undefined;
  return accountWhere(
    db,
    sql`username = ${login} or id = (select user_id from emails where email = ${login} and confirmed_at is not null)`,
  );
}

const isKnownAddress = ({ current_sign_in_ip, last_sign_in_ip }: AccountRow, address: string): boolean =>
  address === current_sign_in_ip || address === last_sign_in_ip;

/** Writes that the attempts of an account are used up, wherever they were made. No transaction counts them: what is refused has none. */
async function auditLock(
  db: Kysely<DB>,
  { id, username }: User,
  { login, address }: Pick<SignIn, 'login' | 'address'>,
): Promise<void> {
  const author = JSON.stringify({ ...stranger(address), name: login });
  await sql`
    select write_audit_event('user_access_locked', 'User', ${id}, ${username}, ${id}, 'User', ${username},
      '{"custom_message": "Too many wrong passwords"}', ${author}::jsonb)`.execute(db);
}

/**
 * Counts an attempt before the password is checked, so that refused attempts cost nothing and reveal nothing. Attempts from a browser in which the user has signed
 * in before are counted separately: guesses from elsewhere do not lock the user out.
 * @returns takes it back, for a password that was right
 */
async function countGuess(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  { login, address, browser }: Pick<SignIn, 'login' | 'address' | 'browser'>,
  user: AccountRow | undefined,
): Promise<() => Promise<void>> {
  const counted: { name: string; who: string }[] = [];
  const left = (limit: { name: string; most: number }, who: string) => {
    counted.push({ name: limit.name, who });
    return leftAfter(db, { ...limit, who, window_s });
  };
  const isOpen = async (who: string) => {
    const more = await left(limits.account, who);
    if (more === -1 && user) await auditLock(db, user, { login, address });
    return more >= 0;
  };
  const account = user ? `user:${user.id}` : createHash('sha256').update(login.toLowerCase()).digest('hex');
  const isAllowed =
    user && isKnownTo(secrets, browser, user.id)
      ? await isOpen(`${account} with ${browser.id}`)
      : (await left(limits.address, address)) >= 0 &&
        (await isOpen(user && isKnownAddress(user, address) ? `${account} from ${address}` : account));
  if (!isAllowed) throw tooManyAttempts(window_s);
  return async () => {
    for (const each of counted) await takeBack(db, each);
  };
}

/**
 * Counts an attempt to sign in with a name and a password that a directory is asked for.
 * @returns takes it back, for a password that was right
 * @throws ApiError 429 after too many attempts
 */
export const countAttempt = async (
  services: Pick<Services, 'db' | 'secrets'>,
  given: Pick<SignIn, 'login' | 'address' | 'browser'>,
): Promise<() => Promise<void>> => countGuess(services, given, await userOf(services.db, given.login));

let decoyDigest: Promise<string> | undefined;

type AskedServices = Pick<Services, 'db' | 'url' | 'secrets' | 'sign_in' | 'askDirectories'>;

/** The account with a password of a directory. */
async function accountInDirectory(services: AskedServices, given: SignIn): Promise<AccountRow | undefined> {
  const ask = () => services.askDirectories(services, given);
  const id = await (given.outside ? given.outside(ask) : ask());
  return id === undefined ? undefined : accountWhere(services.db, sql`id = ${id}`);
}

/**
 * The user with a login and password. Wrong passwords and unknown logins have the same response and take the same time. Where programs send a password (`alone`),
 * it may be one of a directory.
 * @throws ApiError 401, 403 with the reason for a user who is not active, 429 after too many attempts
 */
export async function userByPassword(services: AskedServices, given: SignIn): Promise<Account> {
  const { db, url } = services;
  const { login, password, refused, reactivates, alone } = given;
  const named = await userOf(db, login);
  const forgive = await countGuess(services, given, named);
  decoyDigest ??= passwordDigest('');
  const digest = named?.password_digest ?? (await decoyDigest);
  const matches = await isPassword(password.slice(0, maximum_characters), digest);
  const own = named?.password_digest && matches ? named : undefined;
  const user = own ?? (alone && (await accountInDirectory(services, given)));
  if (!user || (alone && !user.password_suffices)) throw unauthorized();
  await forgive();
  try {
    refuseInactive(reactivates ? reactivated(user) : user, url);
  } catch (error) {
    await refused?.(user.id);
    throw error;
  }
  return user;
}

/** A user as they are once they have signed in with a browser. */
export const reactivated = <Account extends Pick<User, 'state'>>(user: Account): Account => ({
  ...user,
  state: user.state === 'deactivated' ? 'active' : user.state,
});

/** Records that a user has signed in. A deactivated account is active again. @param address of the client */
export async function recordSignIn(db: Kysely<DB>, user_id: number, address: string): Promise<void> {
  await sql`
    update users set state = case state when 'deactivated' then 'active' else state end, sign_in_count = sign_in_count + 1, last_activity_on = current_date,
                     last_sign_in_at = coalesce(current_sign_in_at, now()), current_sign_in_at = now(),
                     last_sign_in_ip = coalesce(current_sign_in_ip, ${address}), current_sign_in_ip = ${address}
     where id = ${user_id}`.execute(db);
}

/** How tokens begin: none is tried as a password, so that one that has ended does not count as a guess. */
const isTokenLike = (value: string): boolean => /^gl[a-z]{2,6}-/.test(value);

/** Whether passwords count where programs send them, such as git. */
export async function takesPasswords(db: Kysely<DB>): Promise<boolean> {
  const { rows } = await sql<{ takes: boolean }>`
    select password_authentication_enabled_for_git as takes from application_settings`.execute(db);
  return rows[0]!.takes;
}

/**
 * The caller with a name and a password, where programs send them in place of a token; undefined if they are wrong, do not count, or the account has a second factor.
 * @throws ApiError 403 with the reason for a user who is not active, 429 after too many attempts
 */
export async function callerOfPassword(
  services: Services,
  { username, value }: { username: string; value: string },
  given: Pick<SignIn, 'address' | 'outside'>,
): Promise<Caller | undefined> {
  if (isTokenLike(value) || !(await takesPasswords(services.db))) return undefined;
  try {
    const user = await userByPassword(services, { login: username, password: value, ...given, alone: true });
    if (user.user_type !== 'human') return undefined;
    const { counted, plan } = user;
    const token = { id: 0, scopes: ['api'], kind: 'password' as const };
    return callerFrom(user, { token, sudo: false, counted, plan }, services.url);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return undefined;
    throw error;
  }
}
