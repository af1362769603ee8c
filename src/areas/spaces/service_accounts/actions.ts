/** Changes of service accounts (docs/reference/service_accounts.md). */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { type Database, isForeignKeyViolation, repeated } from '../../../db/index.ts';
import {
  ApiError,
  badRequest,
  forbidden,
  notFound,
  type Plan,
  type Services,
  sentenceOf,
  textOf,
} from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { seats } from '../../instance/licenses/index.ts';
import { emailReasons, type Proof } from '../../people/emails/index.ts';
import { usernameReasons } from '../../people/namespaces/index.ts';
import { changeUser, createUser, personNameReasons } from '../../people/users/index.ts';
import { takenReasons } from './queries.ts';

const defaultName = 'Service account user';
const noSeats = 'No more seats are available to create Service Account User';

/** An arbitrary number. Two accounts that are created at the same time must not both get the last seat. */
const lock = 726_673_005;

const refused = (reason: string) => badRequest(`400 Bad request - ${reason}`);

/** Rethrows refusals of the users area in the form of this area. */
function refuse(error: unknown): never {
  if (!(error instanceof ApiError) || (error.status !== 400 && error.status !== 409)) throw error;
  throw refused(textOf(error));
}

interface Names {
  name?: string;
  username?: string;
  email?: string;
}

/**
 * Refuses invalid and taken names and addresses, all of them at once.
 * @param user_id the account to update; omitted for a new one
 * @throws ApiError 400
 */
async function checkNames(tx: Database, user_id: number | undefined, { name, username, email }: Names): Promise<void> {
  const taken = await takenReasons(tx, user_id, { username, email });
  const reasons = {
    email: email === undefined ? [] : [...emailReasons(email), ...taken.email],
    username: username === undefined ? [] : [...usernameReasons(username), ...taken.username],
    name: name === undefined ? [] : personNameReasons(name),
  };
  const sentence = sentenceOf(reasons);
  if (sentence !== '') throw refused(sentence);
}

/** If no confirmation is required, a chosen address is effective at once. It is still unconfirmed, so it does not identify its owner anywhere. */
const proofOf = async (tx: Database): Promise<Proof> =>
  (await settingsOf(tx)).email_confirmation_setting === 'off' ? 'counts' : 'unknown';

/**
 * Refuses more service accounts than the license has seats, which applies below Ultimate.
 * @throws ApiError 403, for a group 400
 */
async function checkSeat(tx: Database, plan: Plan, group_id: number | null): Promise<void> {
  if (plan === 'ultimate') return;
  await sql`select pg_advisory_xact_lock(${lock})`.execute(tx);
  const { limit } = await seats(tx);
  if (limit === undefined) return;
  const { rows } = await sql<{ count: number }>`select count(*) from users where user_type = 'service_account'`.execute(
    tx,
  );
  if (rows[0]!.count >= limit) throw group_id === null ? forbidden(noSeats) : refused(noSeats);
}

export interface NewServiceAccount extends Names {
  /** The group of the account; null: the instance. */
  group_id: number | null;
  created_by_id: number;
}

/**
 * Creates a service account. A chosen address replaces the default one, which stays with the account, so that it
 * remains valid without the other.
 * @param plan the plan in force
 * @returns the ID of the user
 * @throws ApiError 400 with the reasons, 403 without a seat, 404 when the group was deleted in the meantime
 */
export async function createServiceAccount(
  { db, url }: Pick<Services, 'db' | 'url'>,
  plan: Plan,
  account: NewServiceAccount,
): Promise<number> {
  const { group_id, created_by_id, name = defaultName, email } = account;
  const prefix = group_id === null ? 'service_account' : `service_account_group_${group_id}`;
  const { username = `${prefix}_${randomBytes(16).toString('hex')}` } = account;
  const own = `${username}@noreply.${new URL(url).hostname}`;
  return repeated(db, async (tx) => {
    await checkSeat(tx, plan, group_id);
    await checkNames(tx, undefined, { name, username, ...(email === undefined ? {} : { email }) });
    // After the check of the username, which the default address contains: a bad username must not cause an error about
    // an address that the caller did not send.
    if (email === undefined) await checkNames(tx, undefined, { email: own });
    const user = { username, name, email: own, confirmed: true, created_by_id };
    const id = await createUser(tx, { ...user, user_type: 'service_account', profile: { external: true } }).catch(
      refuse,
    );
    await tx
      .insertInto('service_accounts')
      .values({ user_id: id, group_id })
      .execute()
      .catch((error: unknown) => {
        throw isForeignKeyViolation(error, 'service_accounts_group_id_fkey') ? notFound('Group') : error;
      });
    if (email !== undefined) await changeUser(tx, id, { email }, await proofOf(tx)).catch(refuse);
    return id;
  });
}

/**
 * Updates a service account.
 * @param names blank values are ignored
 * @throws ApiError 400 with the reasons
 */
export async function changeServiceAccount(
  db: Database,
  user_id: number,
  names: { [Field in keyof Names]?: string | null },
): Promise<void> {
  const changes: Names = Object.fromEntries(
    Object.entries(names).filter(([, text]) => text != null && text.trim() !== ''),
  );
  if (Object.keys(changes).length === 0) return;
  await repeated(db, async (tx) => {
    await checkNames(tx, user_id, changes);
    await changeUser(tx, user_id, changes, await proofOf(tx)).catch(refuse);
  });
}
