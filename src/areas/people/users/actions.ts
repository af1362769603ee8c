/** Creating and updating users (docs/reference/users.md). */
import { sql } from 'kysely';
import { passwordDigest } from '../../../access/index.ts';
import { type Database, isUniqueViolation, stamped } from '../../../db/index.ts';
import type { GivenOf } from '../../../fields/index.ts';
import { conflict, found, invalid } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { noteChange } from '../account_notices/jobs.ts';
import { claimPrimaryEmail } from '../emails/address_actions.ts';
import { isTaken } from '../emails/claim_actions.ts';
import { confirmEmail } from '../emails/jobs.ts';
import { changePrimaryEmail, type Proof } from '../emails/primary_actions.ts';
import { confirmedAddresses } from '../emails/queries.ts';
import { storedEmail } from '../emails/rules.ts';
import { addUserNamespace, renameUserNamespace } from '../namespaces/actions.ts';
import type { userFields } from './fields.ts';
import { tellOfUser } from './hook_actions.ts';
import { ownPasswordReasons, serviceAccountReasons } from './rules.ts';

/** Columns of the profile and of the account's limits that are stored as given. */
export interface Profile extends Partial<GivenOf<typeof userFields, 'users'>> {
  public_email?: string;
  commit_email?: string | null;
}

export interface NewUser {
  username: string;
  name: string;
  email: string;
  /** If omitted, the user cannot sign in with a password. */
  password?: string | undefined;
  admin?: boolean | undefined;
  /** Whether the email address is confirmed at once. */
  confirmed: boolean;
  created_by_id?: number | undefined;
  /** The kind of account; a person by default. Only people have a namespace. */
  user_type?: 'human' | 'project_bot' | 'service_account' | 'ghost' | 'security_policy_bot';
  /** Omitted limits get their defaults from the application settings. */
  profile?: Profile;
}

export interface UserChanges extends Profile {
  username?: string;
  name?: string;
  email?: string;
  password?: string;
  admin?: boolean;
}

/** The unique indexes on addresses of users. */
const emailKeys = ['users_email_key', 'users_unconfirmed_email_key', 'emails_email_key'];
const emailTaken = () => conflict('Email has already been taken');
const usernameTaken = () => conflict('Username has already been taken');

/** Converts unique violations of the database to refusals. */
function refuseTaken(error: unknown): never {
  if (emailKeys.some((key) => isUniqueViolation(error, key))) throw emailTaken();
  if (isUniqueViolation(error, 'users_username_key')) throw usernameTaken();
  // No user has the name, so it must be the path of a group.
  if (isUniqueViolation(error, 'namespaces_full_path_key')) throw invalid({ username: ['has already been taken'] });
  throw error;
}

function checkPassword(password: string | undefined, account: { username: string; name: string; email: string }): void {
  const reasons = password === undefined ? [] : ownPasswordReasons(password, account);
  if (reasons.length > 0) throw invalid({ password: reasons });
}

/** The public and commit address in stored form. */
const withStoredEmails = ({ public_email, commit_email, ...others }: Profile): Profile => ({
  ...others,
  ...(public_email === undefined ? {} : { public_email: storedEmail(public_email) }),
  ...(commit_email === undefined ? {} : { commit_email: commit_email === null ? null : storedEmail(commit_email) }),
});

/** Refuses public and commit addresses that are not among the user's confirmed addresses. */
function checkOwnEmails({ public_email, commit_email }: Profile, confirmed: readonly string[]): void {
  const isOwn = (email: string) => confirmed.includes(email);
  const reasons = ['is not an email you own'];
  const fields: Record<string, string[]> = {};
  if (public_email && !isOwn(public_email)) fields.public_email = reasons;
  if (typeof commit_email === 'string' && commit_email !== '_private' && !isOwn(commit_email))
    fields.commit_email = reasons;
  if (Object.keys(fields).length > 0) throw invalid(fields);
}

/**
 * Creates a user with their namespace.
 * @param tx a transaction
 * @returns the ID of the user
 * @throws ApiError 409 when the address or username is taken, 400 for a weak password, an address of another user, and the path of a group
 */
export async function createUser(tx: Database, user: NewUser): Promise<number> {
  const { username, name, password, admin = false, confirmed, created_by_id, user_type = 'human' } = user;
  const email = storedEmail(user.email);
  const profile = withStoredEmails(user.profile ?? {});
  checkPassword(password, user);
  checkOwnEmails(profile, confirmed ? [email] : []);
  await checkFree(tx, undefined, { email, username });
  const password_digest = password === undefined ? null : await passwordDigest(password);
  const confirmed_at = confirmed ? sql<string>`now()` : null;
  try {
    const { id } = await tx
      .insertInto('users')
      .values({
        ...(user_type === 'human' ? await defaultLimits(tx) : { projects_limit: 0, can_create_group: false }),
        ...profile,
        username,
        name,
        email,
        admin,
        password_digest,
        created_by_id,
        confirmed_at,
        user_type,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    if (user_type === 'human') await addUserNamespace(tx, id, username, name);
    const email_id = await claimPrimaryEmail(tx, id);
    if (!confirmed) await confirmEmail.enqueue(tx, { email_id });
    await tellOfUser(tx, 'user_create', id);
    return id;
  } catch (error) {
    return refuseTaken(error);
  }
}

/** The default limits of new users. */
async function defaultLimits(tx: Database): Promise<Profile> {
  const settings = await settingsOf(tx);
  return {
    external: settings.user_default_external,
    private_profile: settings.user_defaults_to_private_profile,
    projects_limit: settings.default_projects_limit,
    can_create_group: settings.can_create_group,
  };
}

/** Refuses values that another user has. Checked before writing, so that the address is reported first, whichever constraint the database would report. */
async function checkFree(
  tx: Database,
  id: number | undefined,
  { email, username }: { [Name in 'email' | 'username']: string | undefined },
) {
  const { rows } = await sql<{ has_email: boolean; has_username: boolean }>`
    select ${isTaken(email ?? null, id ?? null)} as has_email,
           exists (select from users where username = ${username ?? null} and id is distinct from ${id ?? null}) as has_username`.execute(
    tx,
  );
  if (rows[0]?.has_email) throw emailTaken();
  if (rows[0]?.has_username) throw usernameTaken();
}

/**
 * Updates a user. A new username changes the paths of their projects.
 * @param tx a transaction
 * @param proof what is known about a new address
 * @throws ApiError 404, and as `createUser`
 */
export async function changeUser(tx: Database, id: number, changes: UserChanges, proof: Proof): Promise<void> {
  const account = await lockedAccount(tx, id);
  checkPowers(account, changes);
  const { email: given, password, ...others } = changes;
  const email = given === undefined ? undefined : storedEmail(given);
  const columns = { ...others, ...withStoredEmails(others) };
  const { username = account.username, name = account.name } = changes;
  checkPassword(password, { username, name, email: email ?? account.email });
  await checkFree(tx, id, { email, username: changes.username });
  const secret = password === undefined ? {} : { password_digest: await passwordDigest(password) };
  try {
    if (username !== account.username || name !== account.name) await renameUserNamespace(tx, id, username, name);
    if (email !== undefined) await changePrimaryEmail(tx, id, email, proof);
    if (columns.public_email || columns.commit_email) checkOwnEmails(columns, await confirmedAddresses(tx, id));
    await tx
      .updateTable('users')
      .set(stamped({ ...columns, ...secret }, username !== account.username))
      .where('id', '=', id)
      .execute();
    if (password !== undefined) {
      await endSignIns(tx, id);
      await noteChange(tx, id, 'password_changed');
    }
    if (username !== account.username) await tellOfUser(tx, 'user_rename', id, account.username);
  } catch (error) {
    refuseTaken(error);
  }
}

/** Sessions, sign-ins that wait for the second factor and password links end when the password changes. */
async function endSignIns(tx: Database, user_id: number): Promise<void> {
  await tx.deleteFrom('web_sessions').where('user_id', '=', user_id).execute();
  await tx.deleteFrom('pending_sign_ins').where('user_id', '=', user_id).execute();
  await tx.deleteFrom('password_links').where('user_id', '=', user_id).execute();
}

interface Account {
  username: string;
  name: string;
  email: string;
  user_type: string;
  /** Whether the account is a service account of a group. */
  of_group: boolean;
}

async function lockedAccount(tx: Database, id: number): Promise<Account> {
  const query = tx
    .selectFrom('users')
    .select(['username', 'name', 'email', 'user_type'])
    .select(
      sql<boolean>`exists (select from service_accounts where user_id = users.id and group_id is not null)`.as(
        'of_group',
      ),
    )
    .where('id', '=', id)
    .forNoKeyUpdate();
  return found('User', await query.executeTakeFirst());
}

/** Refuses changes that are not allowed for service accounts. */
function checkPowers({ user_type, of_group }: Account, changes: UserChanges): void {
  const fields = user_type === 'service_account' ? serviceAccountReasons(changes, of_group) : {};
  if (Object.keys(fields).length > 0) throw invalid(fields);
}
