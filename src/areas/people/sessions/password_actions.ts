/** Setting and changing passwords. The sessions of the user end with the old password (docs/reference/sessions.md). */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { cookieFor, type Device, refuseTooOften, userByPassword, type Visitor } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { stranger } from '../../../foundation/actors.ts';
import { ApiError, invalid, type Services } from '../../../http/index.ts';
import { audit } from '../../instance/audit_events/index.ts';
import { changeUser } from '../users/actions.ts';
import { passwordReasons } from '../users/rules.ts';
import { startSession } from './actions.ts';
import { sendPasswordLink } from './jobs.ts';
import { linkPurpose, passwordLink_hours, passwordPage } from './rules.ts';

/** How many links a client may request, and how many may be requested for one account. */
const limits = {
  address: { name: 'password_links_from_address', most: 10, window_s: 3600 },
  account: { name: 'password_links_of_account', most: 5, window_s: 3600 },
};

async function userWith(db: Database, email: string): Promise<number | undefined> {
  const { rows } = await sql<{ user_id: number }>`
    select user_id from emails where email = ${email} and confirmed_at is not null`.execute(db);
  return rows[0]?.user_id;
}

/** The key of a limit: the account with the address, or the address itself if no account has it. */
const accountOf = (email: string, user_id: number | undefined) =>
  user_id === undefined ? createHash('sha256').update(email.toLowerCase()).digest('hex') : `user:${user_id}`;

/**
 * Sends a link to the user with a confirmed address. The response does not reveal whether there is one: requests are
 * counted for any address, and the job looks up the user.
 * @throws ApiError 429
 */
export async function resetPassword({ db }: Services, email: string, device: Device): Promise<void> {
  await refuseTooOften(db, { ...limits.address, who: device.address });
  const user_id = await userWith(db, email);
  await refuseTooOften(db, { ...limits.account, who: accountOf(email, user_id) });
  await db.transaction().execute(async (tx) => {
    await sendPasswordLink.enqueue(tx, { email });
    if (user_id === undefined) return;
    const event_name = 'password_reset_requested';
    const details = { custom_message: 'Asked for a link to set a password' };
    await audit(tx, { event_name, entity: { type: 'User', id: user_id }, details }, stranger(device.address));
  });
}

/**
 * Creates a link with which a user sets a password.
 * @returns its path on this server
 */
export async function passwordLinkFor(
  { secrets }: Pick<Services, 'secrets'>,
  db: Database,
  user_id: number,
): Promise<string> {
  const { seed } = await db
    .insertInto('password_links')
    .values({ user_id })
    .returning('seed')
    .executeTakeFirstOrThrow();
  return `${passwordPage}?reset_password_token=${secrets.linkToken(linkPurpose, seed)}`;
}

/** Sets a password after checking it against the rules. */
async function setPassword(tx: Database, user_id: number, password: string): Promise<void> {
  const reasons = passwordReasons(password);
  if (reasons.length > 0) throw invalid({ password: reasons });
  await changeUser(tx, user_id, { password }, 'unknown');
}

const gone = () => new ApiError(410, { message: 'The link is not valid any more. Ask for another one.' });

/** The user of a link, if it has neither expired nor been used. */
async function userOfLink(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  token: string,
): Promise<{ user_id: number; username: string } | undefined> {
  const seed = secrets.seedOfLink(linkPurpose, token);
  if (seed === undefined) return undefined;
  const { rows } = await sql<{ user_id: number; username: string }>`
    select user_id, username from password_links join users on users.id = user_id
     where seed = ${seed}::uuid and password_links.created_at > now() - make_interval(hours => ${sql.lit(passwordLink_hours)})
       for update of password_links`.execute(db);
  return rows[0];
}

/** The name of the user of a link; undefined for a link that is no longer valid. */
export const usernameOfLink = async (services: Services, token: string): Promise<string | undefined> =>
  (await userOfLink(services, token))?.username;

/**
 * Sets the password of the user of a link.
 * @param token of the link
 * @throws ApiError 410 for a link that has expired or was used, 400 for a weak password
 */
export async function choosePassword({ db, secrets }: Services, token: string, password: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const user = await userOfLink({ db: tx, secrets }, token);
    if (!user) throw gone();
    await setPassword(tx, user.user_id, password);
  });
}

/**
 * Changes the password of a visitor. All their sessions end, and a new one starts.
 * @returns the `Set-Cookie` of the new session
 * @throws ApiError 401 for a wrong current password, 400 for a weak new one, 429
 */
export async function changePassword(
  services: Services,
  visitor: Visitor,
  { current, password }: { current: string; password: string },
  device: Device,
): Promise<string> {
  const { db, url } = services;
  await userByPassword(services, { login: visitor.username, password: current, ...device });
  return await db.transaction().execute(async (tx) => {
    const { methods } = await tx
      .selectFrom('web_sessions')
      .select('methods')
      .where('id', '=', visitor.session.id)
      .executeTakeFirstOrThrow();
    await setPassword(tx, visitor.id, password);
    return cookieFor(url, await startSession(tx, { user_id: visitor.id, methods, is_remembered: false, device }));
  });
}
