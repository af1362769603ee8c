/** Signing in with directories, and following who is in them (docs/reference/sign_in_providers.md#ldap). */
import { sql } from 'kysely';
import { countAttempt, type Device } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, type Services } from '../../../http/index.ts';
import { type LdapProvider, ldap, ProviderError, type Stated } from '../../../identity_providers/index.ts';
import type { DirectoryServices, JobServices } from '../../../services/index.ts';
import { accountFor, linkIdentity } from './account_actions.ts';
import { SignInRefused } from './rules.ts';
import { refusing } from './sign_in_actions.ts';
import { setState, syncAccount } from './sync_actions.ts';

interface Credentials {
  login: string;
  password: string;
}

/** Whom a directory states; undefined for a wrong name or password. @throws SignInRefused */
async function statedBy(provider: LdapProvider, given: Credentials): Promise<Stated | undefined> {
  const { signInByLdap, WrongCredentials } = await ldap();
  return refusing(
    provider,
    signInByLdap(provider, given).catch((error: unknown) => {
      if (error instanceof WrongCredentials) return undefined;
      throw error;
    }),
  );
}

/** Records that a directory has answered. */
async function recordCheck(db: Database, provider: string, uid: string): Promise<void> {
  await sql`
    update user_identities set checked_at = now() where provider = ${provider} and extern_uid = ${uid}`.execute(db);
}

/** @param address of the client, if a session follows */
async function accountIn(db: Database, provider: LdapProvider, stated: Stated, address?: string): Promise<number> {
  const id = await accountFor(db, provider, stated, address);
  await recordCheck(db, provider.name, stated.uid);
  return id;
}

/**
 * The person with a name and a password. Attempts are counted together with those of passwords.
 * @throws SignInRefused; ApiError 401 for a wrong name or password, 429
 */
async function provedBy(
  services: Services,
  provider: LdapProvider,
  given: Credentials,
  { address, browser }: Device,
): Promise<Stated> {
  const forgive = await countAttempt(services, { login: given.login, address, browser });
  const stated = await statedBy(provider, given);
  if (!stated) throw new ApiError(401, { message: 'The name or the password is wrong.' });
  await forgive();
  return stated;
}

/**
 * Signs somebody in with a directory.
 * @throws as `provedBy`
 */
export async function signInByDirectory(
  services: Services,
  provider: LdapProvider,
  given: Credentials,
  device: Device,
): Promise<number> {
  const stated = await provedBy(services, provider, given, device);
  const user_id = await accountIn(services.db, provider, stated, device.address);
  await services.followGroups(services, provider, [{ user_id, ...stated }]);
  return user_id;
}

/**
 * Gives the identity of a person in a directory to the account of somebody who is signed in.
 * @throws as `provedBy`
 */
export async function linkByDirectory(
  services: Services,
  provider: LdapProvider,
  given: Credentials,
  device: Device,
  user_id: number,
): Promise<void> {
  const stated = await provedBy(services, provider, given, device);
  await linkIdentity(services.db, provider, user_id, stated);
  await recordCheck(services.db, provider.name, stated.uid);
  await services.followGroups(services, provider, [{ user_id, ...stated }]);
}

/** The user with a name and a password in one of the directories, where programs send a password. One that does not answer is passed over. */
export async function askDirectories(
  { db, sign_in }: DirectoryServices,
  given: Credentials,
): Promise<number | undefined> {
  for (const provider of sign_in.providers) {
    if (provider.type !== 'ldap') continue;
    try {
      const stated = await statedBy(provider, given);
      if (stated) return await accountIn(db, provider, stated);
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error;
    }
  }
  return undefined;
}

interface Known {
  user_id: number;
  uid: string;
}

/** How many people one connection asks for. */
const batch = 20;

/** People of a directory whom it was not asked about since a moment. @param active whether only those count who are here today */
async function dueIn(db: Database, provider: string, since: string, active: boolean): Promise<Known[]> {
  const { rows } = await sql<Known>`
    select user_id, extern_uid as uid from user_identities join users on users.id = user_id
     where provider = ${provider} and (checked_at is null or checked_at < ${since})
       and state in ('active', 'ldap_blocked') and (not ${active} or last_activity_on = current_date)
     order by checked_at nulls first, user_id limit ${sql.lit(batch)}`.execute(db);
  return rows;
}

/** Follows what a directory says of somebody: one who is gone is blocked, and one who is there again is not. */
async function follow(
  db: Database,
  provider: LdapProvider,
  { user_id, uid }: Known,
  stated: Stated | undefined,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (stated) await syncAccount(tx, provider, user_id, stated);
    else await setState(tx, user_id, 'active', 'ldap_blocked');
    await recordCheck(tx, provider.name, uid);
  });
}

/** About whom a directory is asked. */
export interface Asked {
  /** Whether only about those who are here today. */
  active: boolean;
  /** Whether not about those about whom it was asked lately. */
  due: boolean;
}

/** Jobs of each hour take their time: nobody is left out for the next one. */
const lately_min = 50;

/**
 * Asks a directory about its people. One that does not answer changes nothing.
 * @throws ProviderError
 */
async function checkDirectory(
  services: Pick<JobServices, 'db' | 'followGroups'>,
  provider: LdapProvider,
  { active, due }: Asked,
): Promise<void> {
  const { db } = services;
  const { lookUp } = await ldap();
  const { rows } = await sql<{ since: string }>`
    select now() - make_interval(mins => ${due ? lately_min : 0}) as since`.execute(db);
  const next = () => dueIn(db, provider.name, rows[0]!.since, active);
  for (let people = await next(); people.length > 0; people = await next()) {
    const found = await lookUp(
      provider,
      people.map(({ uid }) => uid),
    );
    const byUid = new Map(found.map(({ uid, stated }) => [uid, stated]));
    for (const known of people) await follow(db, provider, known, byUid.get(known.uid));
    const there = people.flatMap(({ user_id, uid }) => {
      const stated = byUid.get(uid);
      return stated ? [{ user_id, uid, groups: stated.groups }] : [];
    });
    await services.followGroups(services, provider, there);
  }
}

/** The same, where silence is no failure: it says nothing about anybody, and the next time asks again. */
export async function checkIfThere(...of: Parameters<typeof checkDirectory>): Promise<void> {
  await checkDirectory(...of).catch((error: unknown) => {
    if (!(error instanceof ProviderError)) throw error;
  });
}
