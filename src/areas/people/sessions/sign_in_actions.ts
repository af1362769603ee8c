/** The end of every way to sign in: a new session, or first the second factor (docs/reference/sessions.md#signing-in). */
import { sql } from 'kysely';
import {
  browserCookie,
  cookieFor,
  cookieWith,
  type Device,
  hasSecondFactor,
  isKnownTo,
  knownTo,
  newTokenValue,
  reactivated,
  recordSignIn,
  refuseInactive,
  tokenDigest,
  type User,
  userByPassword,
  userColumns,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, type Services, unauthorized } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { noteChange } from '../account_notices/jobs.ts';
import { tellOfUser } from '../users/hook_actions.ts';
import { type NewSession, startSession } from './actions.ts';
import { auditRefusedPassword, auditSignIn } from './audit_actions.ts';

/** The address that was asked for, and a form that waits (`waitingForm`); empty texts for none. */
export interface Going {
  to: string;
  kept: string;
}

/** A person whose password, provider or passkey has proved who they are. */
export interface Proven extends NewSession {
  /** Whether that counts as the second factor, too, as a passkey does. */
  is_strong?: true;
  /** Whether an audit event tells of it already. */
  is_audited?: true;
  going?: Going;
}

/** What the browser gets. */
export interface SignedIn {
  /** Values of `Set-Cookie`. */
  cookies: string[];
  /** The value of the cookie of the session; undefined if the second factor comes first, on `secondFactorPage`. */
  session: string | undefined;
}

/** The page that asks for the second factor. */
export const secondFactorPage = '/users/sign_in/two_factor';

/** The name of the cookie of a sign-in that waits for the second factor. */
export const pendingCookie = 'coppice-sign-in';
/** How long it waits, in minutes. */
export const pending_minutes = 10;
/** More that wait for one account replace the oldest ones. */
const maximumPending = 20;

/**
 * Goes on with a person who has proved who they are. It never continues a session that the browser had before.
 * @throws ApiError 403 with the reason for a user who is not active
 */
export async function finishSignIn(services: Services, proven: Proven): Promise<SignedIn> {
  const { rows } = await sql<User & { has_second_factor: boolean }>`
    select ${userColumns}, ${hasSecondFactor} as has_second_factor from users where users.id = ${proven.user_id}`.execute(
    services.db,
  );
  const user = rows[0]!;
  refuseInactive(reactivated(user), services.url);
  if (user.has_second_factor && !proven.is_strong) return awaitSecondFactor(services, proven);
  const { user_id, methods, device } = proven;
  return services.db.transaction().execute(async (tx) => {
    if (!proven.is_audited) await auditSignIn(tx, { user_id, methods, address: device.address });
    return begin(services, tx, proven);
  });
}

/**
 * Starts the session of a person who has proved all that is asked of them.
 * @param tx a transaction
 */
export async function begin({ url, secrets }: Services, tx: Database, session: NewSession): Promise<SignedIn> {
  const { user_id, device, is_remembered } = session;
  if (await isFromUnknownPlace({ secrets }, tx, session))
    await noteChange(tx, user_id, 'unknown_sign_in', device.address);
  await recordSignIn(tx, user_id, device.address);
  const value = await startSession(tx, session);
  const cookies = [
    cookieFor(url, value, is_remembered),
    browserCookie(url, knownTo(secrets, device.browser, user_id)),
    cookieWith(url, pendingCookie, '', 0),
  ];
  return { cookies, session: value };
}

/** Whether a user who has signed in before does so from an address and a browser that are new to them, and wants mail about it. */
async function isFromUnknownPlace(
  { secrets }: Pick<Services, 'secrets'>,
  tx: Database,
  { user_id, device }: NewSession,
): Promise<boolean> {
  if (isKnownTo(secrets, device.browser, user_id)) return false;
  const address = device.address.split('%', 1)[0];
  const { rows } = await sql<{ is_new: boolean }>`
    select sign_in_count > 0 and (select notify_on_unknown_sign_in from application_settings)
           and ${address} is distinct from current_sign_in_ip and ${address} is distinct from last_sign_in_ip
           and not exists (select from web_sessions where user_id = users.id and address = ${address}::inet) as is_new
      from users where id = ${user_id}`.execute(tx);
  return rows[0]!.is_new;
}

async function awaitSecondFactor({ db, url }: Services, proven: Proven): Promise<SignedIn> {
  const { user_id, methods, is_remembered, going } = proven;
  const value = newTokenValue('');
  await db.transaction().execute(async (tx) => {
    await sql`
      insert into pending_sign_ins (user_id, digest, methods, is_remembered, going_to, kept)
      values (${user_id}, ${tokenDigest(value)}, ${methods}::text[], ${is_remembered}, ${going?.to ?? ''}, ${going?.kept ?? ''})`.execute(
      tx,
    );
    await sql`
      delete from pending_sign_ins where id in (
        select id from pending_sign_ins where user_id = ${user_id} order by id desc offset ${sql.lit(maximumPending)})`.execute(
      tx,
    );
  });
  return { cookies: [cookieWith(url, pendingCookie, value, pending_minutes * 60)], session: undefined };
}

/** Whether the passwords of all people sign in on pages; otherwise those of administrators alone. */
export const passwordsSignIn = async (db: Database): Promise<boolean> =>
  (await settingsOf(db)).password_authentication_enabled_for_web;

/** A text without what PostgreSQL cannot store. */
const readable = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** The fields of the sign-in form. */
export interface SignInFields extends Going {
  login: string;
  password: string;
  is_remembered: boolean;
}

/**
 * Signs a user in with their password.
 * @throws ApiError 401, 403, 429 as `userByPassword`
 */
export async function signIn(
  services: Services,
  { login, password, is_remembered, ...going }: SignInFields,
  device: Device,
): Promise<SignedIn> {
  const refused = (user_id: number) => tellOfUser(services.db, 'user_failed_login', user_id);
  const given = { login, password, ...device, refused, reactivates: true } as const;
  const { id, admin } = await userByPassword(services, given).catch(async (error: unknown) => {
    if (error instanceof ApiError && error.status === 401)
      await auditRefusedPassword(services.db, { login: readable(login), address: device.address });
    throw error;
  });
  // Administrators are not locked out by a setting, only by the file of the operator.
  const counts = (admin && services.sign_in.administrators_by_password) || (await passwordsSignIn(services.db));
  if (!counts) throw unauthorized();
  return finishSignIn(services, { user_id: id, methods: ['pwd'], is_remembered, device, going });
}
