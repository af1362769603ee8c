/** Starting, confirming, renewing and ending sessions (docs/reference/sessions.md). */
import { sql } from 'kysely';
import {
  cookieFor,
  type Device,
  isLasting,
  newTokenValue,
  sessionHours,
  tokenDigest,
  userByPassword,
  type Visitor,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { auditSignOut } from './audit_actions.ts';

const longestAgent_characters = 300;

/** Who a new session is for, and how they have proved who they are. */
export interface NewSession {
  user_id: number;
  /** As in `amr` of RFC 8176: `pwd`, `otp`, `hwk`, or `fed` for a provider. */
  methods: readonly string[];
  is_remembered: boolean;
  device: Device;
}

/** @returns the value of the cookie */
export async function startSession(
  db: Database,
  { user_id, methods, is_remembered, device }: NewSession,
): Promise<string> {
  const value = newTokenValue('');
  const agent = device.user_agent?.slice(0, longestAgent_characters) ?? null;
  await sql`
    insert into web_sessions (user_id, token_digest, methods, is_remembered, address, user_agent)
    values (${user_id}, ${tokenDigest(value)}, ${methods}::text[], ${is_remembered}, ${device.address.split('%', 1)[0]}::inet, ${agent})`.execute(
    db,
  );
  return value;
}

/** Renews the cookie of a session. The previous value stays valid for another minute. */
async function renew(
  db: Database,
  session_id: number,
  isConfirmed: boolean,
): Promise<{ value: string; is_remembered: boolean } | undefined> {
  const value = newTokenValue('');
  const { rows } = await sql<{ is_remembered: boolean }>`
    update web_sessions
       set previous_digest = token_digest, token_digest = ${tokenDigest(value)}, rotated_at = now(),
           confirmed_at = case when ${isConfirmed} then now() else confirmed_at end
     where id = ${session_id} and (${isConfirmed} or rotated_at < now() - make_interval(hours => ${sql.lit(sessionHours.cookie)}))
     returning is_remembered`.execute(db);
  return rows[0] && { value, ...rows[0] };
}

/**
 * Records that the visitor has proved again who they are.
 * @returns the `Set-Cookie` of the session
 */
export async function confirmSession({ db, url }: Services, { session }: Visitor): Promise<string> {
  const { value, is_remembered } = (await renew(db, session.id, true))!;
  return cookieFor(url, value, is_remembered);
}

/**
 * Checks the password of a visitor, and records that they have given it again.
 * @returns the `Set-Cookie` of the session
 * @throws ApiError 401 for a wrong password, 429
 */
export async function confirmByPassword(
  services: Services,
  visitor: Visitor,
  password: string,
  device: Device,
): Promise<string> {
  await userByPassword(services, { login: visitor.username, password, ...device });
  return confirmSession(services, visitor);
}

/** @returns the `Set-Cookie` of a session, if its cookie is a day old */
export async function renewedCookie({ db, url }: Services, { session }: Visitor): Promise<string | undefined> {
  const renewed = await renew(db, session.id, false);
  return renewed && cookieFor(url, renewed.value, renewed.is_remembered);
}

/** Signs a visitor out of the session in which they ask for it. */
export const signOut = (db: Database, { id, session }: Pick<Visitor, 'id' | 'session'>): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await endSession(tx, id, session.id);
    await auditSignOut(tx, id);
  });

/** Ends a session, if it belongs to the user. */
export const endSession = (db: Database, user_id: number, session_id: number) =>
  sql`delete from web_sessions where id = ${session_id} and user_id = ${user_id}`.execute(db);

/** Ends all sessions of a user. @param kept a session that continues */
export const endSessions = (db: Database, user_id: number, kept?: number) =>
  sql`delete from web_sessions where user_id = ${user_id} and id is distinct from ${kept ?? null}::bigint`.execute(db);

export interface SessionRow {
  id: number;
  created_at: string;
  used_at: string;
  address: string | null;
  user_agent: string | null;
}

/** The maximum number of listed sessions: a session ends after 90 days at the latest. */
const maximumListed = 100;

/** The sessions of a user, most recently used first. */
export async function listSessions(db: Database, user_id: number): Promise<SessionRow[]> {
  const { rows } = await sql<SessionRow>`
    select id, created_at, used_at, host(address) as address, user_agent from web_sessions
     where user_id = ${user_id} and ${isLasting} order by used_at desc, id desc limit ${sql.lit(maximumListed)}`.execute(
    db,
  );
  return rows;
}
