/** Complete changes of users. */
import { sql } from 'kysely';
import { passwordDigest } from '../../../access/index.ts';
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import { conflict, found, invalid } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { askForConfirmation, changePrimaryEmail, confirmedAddresses } from '../emails/index.ts';
import { addUserNamespace, renameUserNamespace } from '../namespaces/index.ts';
import { ownPasswordReasons, serviceAccountReasons } from './rules.ts';

/** Columns of the profile and of the account's limits that are written as they are given. */
export interface Profile {
  external?: boolean;
  can_create_group?: boolean;
  private_profile?: boolean;
  projects_limit?: number;
  bio?: string;
  location?: string;
  organization?: string;
  job_title?: string;
  pronouns?: string | null;
  linkedin?: string;
  twitter?: string;
  discord?: string;
  github?: string;
  website_url?: string;
  public_email?: string;
  commit_email?: string | null;
  note?: string | null;
  theme_id?: number;
  color_scheme_id?: number;
}

export interface NewUser {
  username: string;
  name: string;
  email: string;
  /** Left out, nobody can sign in with one. */
  password?: string | undefined;
  admin?: boolean | undefined;
  /** Whether the address counts as confirmed at once. */
  confirmed: boolean;
  created_by_id?: number | undefined;
  /** Who stands behind the account; a person by default. Only people have a namespace of their own. */
  user_type?: 'human' | 'project_bot' | 'service_account' | 'ghost';
  /** What is left out of the account's limits is as the application settings say. */
  profile?: Profile;
}

export interface UserChanges extends Profile {
  username?: string;
  name?: string;
  email?: string;
  password?: string;
  admin?: boolean;
}

const emailTaken = () => conflict('Email has already been taken');
const usernameTaken = () => conflict('Username has already been taken');

/** Turns what the database refuses because somebody else has it into the refusals of users-and-tokens.md section 4. */
function refuseTaken(error: unknown): never {
  if (isUniqueViolation(error, 'users_email_key') || isUniqueViolation(error, 'emails_email_key')) throw emailTaken();
  if (isUniqueViolation(error, 'users_username_key')) throw usernameTaken();
  // The name is free among users, so it is a group that has it.
  if (isUniqueViolation(error, 'namespaces_full_path_key')) throw invalid({ username: ['has already been taken'] });
  throw error;
}

function checkPassword(password: string | undefined, account: { username: string; name: string; email: string }): void {
  const reasons = password === undefined ? [] : ownPasswordReasons(password, account);
  if (reasons.length > 0) throw invalid({ password: reasons });
}

/** Refuses addresses that are shown or written into commits without belonging to the user; `confirmed` are those that do. */
function checkOwnEmails({ public_email, commit_email }: Profile, confirmed: readonly string[]): void {
  const isOwn = (email: string) => confirmed.some((own) => own.toLowerCase() === email.toLowerCase());
  const reasons = ['is not an email you own'];
  const fields: Record<string, string[]> = {};
  if (public_email && !isOwn(public_email)) fields.public_email = reasons;
  if (typeof commit_email === 'string' && commit_email !== '_private' && !isOwn(commit_email)) fields.commit_email = reasons;
  if (Object.keys(fields).length > 0) throw invalid(fields);
}

/**
 * Adds a user, with the namespace for his own projects.
 * @param tx a transaction
 * @returns the id of the user
 * @throws ApiError 409 when the address or the name is taken, 400 for a weak password, an address of somebody else, and the name of a group
 */
export async function createUser(tx: Database, user: NewUser): Promise<number> {
  const { username, name, email, password, admin = false, confirmed, created_by_id, user_type = 'human', profile = {} } = user;
  checkPassword(password, user);
  checkOwnEmails(profile, confirmed ? [email] : []);
  await checkFree(tx, undefined, user);
  const password_digest = password === undefined ? null : await passwordDigest(password);
  const confirmed_at = confirmed ? sql<string>`now()` : null;
  try {
    const { id } = await tx
      .insertInto('users')
      .values({
        ...(user_type === 'human' ? await defaultLimits(tx) : { projects_limit: 0, can_create_group: false }),
        ...profile,
        ...{ username, name, email, admin, password_digest, created_by_id, confirmed_at, user_type },
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    if (user_type === 'human') await addUserNamespace(tx, id, username, name);
    if (!confirmed) await askForConfirmation(tx, id);
    return id;
  } catch (error) {
    return refuseTaken(error);
  }
}

/** What a new person may do where nobody decides otherwise. */
async function defaultLimits(tx: Database): Promise<Profile> {
  const settings = await settingsOf(tx);
  return {
    external: settings.user_default_external,
    private_profile: settings.user_defaults_to_private_profile,
    projects_limit: settings.default_projects_limit,
    can_create_group: settings.can_create_group,
  };
}

/** Refuses what another user than `id` has. Asked before writing, so that the address is named first, whichever the database would find first. */
async function checkFree(tx: Database, id: number | undefined, { email, username }: Pick<UserChanges, 'email' | 'username'>) {
  const { rows } = await sql<{ has_email: boolean; has_username: boolean }>`
    select exists (select from emails where email = ${email ?? null} and user_id is distinct from ${id ?? null}) as has_email,
           exists (select from users where username = ${username ?? null} and id is distinct from ${id ?? null}) as has_username`.execute(
    tx,
  );
  if (rows[0]?.has_email) throw emailTaken();
  if (rows[0]?.has_username) throw usernameTaken();
}

/**
 * Changes a user; with his name the paths of his projects change too.
 * @param tx a transaction
 * @param skipReconfirmation whether a new address counts as confirmed
 * @throws ApiError 404, and as `createUser`
 */
export async function changeUser(tx: Database, id: number, changes: UserChanges, skipReconfirmation: boolean): Promise<void> {
  const account = await lockedAccount(tx, id);
  checkPowers(account, changes);
  const { email, password, ...columns } = changes;
  const { username = account.username, name = account.name } = changes;
  checkPassword(password, { username, name, email: email ?? account.email });
  await checkFree(tx, id, changes);
  const secret = password === undefined ? {} : { password_digest: await passwordDigest(password) };
  try {
    if (username !== account.username || name !== account.name) await renameUserNamespace(tx, id, username, name);
    if (email !== undefined) await changePrimaryEmail(tx, id, email, skipReconfirmation);
    if (changes.public_email || changes.commit_email) checkOwnEmails(changes, await confirmedAddresses(tx, id));
    await tx
      .updateTable('users')
      .set({ ...columns, ...secret, updated_at: sql`now()` })
      .where('id', '=', id)
      .execute();
  } catch (error) {
    refuseTaken(error);
  }
}

interface Account {
  username: string;
  name: string;
  email: string;
  user_type: string;
  /** Whether it is a service account of a group. */
  of_group: boolean;
}

async function lockedAccount(tx: Database, id: number): Promise<Account> {
  const query = tx
    .selectFrom('users')
    .select(['username', 'name', 'email', 'user_type'])
    .select(sql<boolean>`exists (select from service_accounts where user_id = users.id and group_id is not null)`.as('of_group'))
    .where('id', '=', id)
    .forNoKeyUpdate();
  return found('User', await query.executeTakeFirst());
}

/** Refuses what no service account may be given. */
function checkPowers({ user_type, of_group }: Account, changes: UserChanges): void {
  const fields = user_type === 'service_account' ? serviceAccountReasons(changes, of_group) : {};
  if (Object.keys(fields).length > 0) throw invalid(fields);
}
