/** From the person that a provider has stated to an account here (docs/reference/sign_in_providers.md#accounts). */
import { sql } from 'kysely';
import { type Database, repeated, takeTurn } from '../../../db/index.ts';
import { addressOf } from '../../../foundation/actors.ts';
import type { Provider, Stated } from '../../../identity_providers/index.ts';
import { emailRefusals, settingsOf } from '../../instance/application_settings/index.ts';
import { audit } from '../../instance/audit_events/index.ts';
import { endClaimsTo, isTaken } from '../emails/claim_actions.ts';
import { emailReasons, storedEmail } from '../emails/rules.ts';
import { changeUser, createUser } from '../users/actions.ts';
import { personNameReasons } from '../users/rules.ts';
import { failed, notApproved, ofAnother, SignInRefused, waiting } from './rules.ts';
import { syncAccount } from './sync_actions.ts';
import { freeUsername } from './username_queries.ts';

interface Account {
  id: number;
  state: string;
  name: string;
  email: string;
}

/** The account that an identity belongs to, compared byte for byte. */
async function accountOf(tx: Database, provider: string, uid: string): Promise<Account | undefined> {
  const { rows } = await sql<Account>`
    select users.id, users.state, users.name, users.email from user_identities join users on users.id = user_id
     where provider = ${provider} and extern_uid = ${uid}`.execute(tx);
  return rows[0];
}

/** Gives an identity that nobody has to an account, unless that has another one there. */
async function giveIdentity(tx: Database, user_id: number, provider: string, uid: string): Promise<boolean> {
  const given = tx
    .insertInto('user_identities')
    .values({ user_id, provider, extern_uid: uid })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id');
  return (await given.executeTakeFirst()) !== undefined;
}

/** The account whose confirmed address a provider has verified. */
async function accountWithAddress(tx: Database, email: string): Promise<Account | undefined> {
  const { rows } = await sql<Account>`
    select users.id, users.state, users.name, users.email from emails join users on users.id = emails.user_id
     where emails.email = ${email} and emails.confirmed_at is not null and users.user_type = 'human'`.execute(tx);
  return rows[0];
}

/** @throws SignInRefused */
async function createAccount(tx: Database, provider: Provider, stated: Stated): Promise<number> {
  const { label } = provider;
  if (!provider.allow_sign_up) throw failed(label, 'no account, and none is made');
  const { email: given, has_verified_email } = stated;
  if (given === undefined || emailReasons(given).length > 0) throw failed(label, 'no address');
  const email = storedEmail(given);
  const [refusal] = await emailRefusals(await settingsOf(tx), [email]);
  if (refusal) throw failed(label, 'address is not allowed for sign-up');
  if (has_verified_email) await endClaimsTo(tx, email);
  const { is_taken } = await tx.selectNoFrom(isTaken(email, null).as('is_taken')).executeTakeFirstOrThrow();
  if (is_taken && has_verified_email)
    throw new SignInRefused(
      422,
      `An account with this address exists. Sign in to it and link ${label} there.`,
      'address of another account',
    );
  if (is_taken) throw failed(label, 'address of another account');
  const lowercase = provider.type === 'ldap' && provider.lowercase_usernames;
  const username = await freeUsername(tx, stated, lowercase);
  const name = stated.name !== undefined && personNameReasons(stated.name).length === 0 ? stated.name : username;
  const profile = provider.external ? { external: true } : {};
  const id = await createUser(tx, { username, name, email, confirmed: has_verified_email, profile });
  if (provider.block_auto_created)
    await tx.updateTable('users').set({ state: 'blocked_pending_approval' }).where('id', '=', id).execute();
  return id;
}

/** The account of an identity that nobody has yet. @throws SignInRefused */
async function newlyKnown(tx: Database, provider: Provider, stated: Stated): Promise<number> {
  const { email, has_verified_email, uid } = stated;
  const linked =
    provider.auto_link_user && has_verified_email && email !== undefined
      ? await accountWithAddress(tx, storedEmail(email))
      : undefined;
  const id = linked?.id ?? (await createAccount(tx, provider, stated));
  // The account has another identity at this provider, which stays.
  if (!(await giveIdentity(tx, id, provider.name, uid))) throw failed(provider.label, 'account has another identity');
  return id;
}

const checkGroups = (provider: Provider, { groups }: Stated): void => {
  if (provider.type === 'ldap' || provider.required_groups.length === 0) return;
  if (!(groups ?? []).some((group) => provider.required_groups.includes(group))) throw notApproved('required_groups');
};

/** Follows the provider in what the operator wants of the profile. */
async function syncProfile(tx: Database, provider: Provider, account: Account, stated: Stated): Promise<void> {
  const { name, email: given, has_verified_email } = stated;
  const wants = (what: 'name' | 'email') => provider.sync_profile.includes(what);
  if (wants('name') && name !== undefined && name !== account.name && personNameReasons(name).length === 0)
    await changeUser(tx, account.id, { name }, 'unknown');
  if (!wants('email') || !has_verified_email || given === undefined || emailReasons(given).length > 0) return;
  const email = storedEmail(given);
  if (email === account.email) return;
  const { is_taken } = await tx.selectNoFrom(isTaken(email, account.id).as('is_taken')).executeTakeFirstOrThrow();
  if (!is_taken) await changeUser(tx, account.id, { email }, 'confirmed');
}

/** Why an account may not sign in; undefined if it may. */
function refusalFor({ state }: Pick<Account, 'state'>): SignInRefused | undefined {
  if (state === 'blocked_pending_approval') return waiting();
  return state === 'active' || state === 'deactivated'
    ? undefined
    : new SignInRefused(403, 'Your account has been blocked.', `account is ${state}`);
}

const eventNames = {
  oidc: 'authenticated_with_oauth',
  saml: 'authenticated_with_saml',
  ldap: 'authenticated_with_ldap',
} as const;

/** Writes that somebody has proved who they are. @param tx the transaction of the sign-in */
async function auditSignIn(
  tx: Database,
  { type, name: provider }: Provider,
  { id, name, email }: Account,
  address: string,
): Promise<void> {
  const details = { custom_message: `Signed in with ${provider}` };
  const by = { id, name, email, class: 'User', ip: addressOf(address) } as const;
  await audit(tx, { event_name: eventNames[type], entity: { type: 'User', id }, details }, by);
}

/** One sign-in of a person after the other, so that two first ones make one account. */
const inTurn = <T>(db: Database, provider: Provider, uid: string, work: (tx: Database) => Promise<T>): Promise<T> =>
  repeated(db, async (tx) => {
    await takeTurn(tx, `identity ${provider.name} ${uid}`);
    return work(tx);
  });

/**
 * The account of a person, made or linked if need be, and made to follow the provider.
 * @param address of the client
 * @throws SignInRefused
 */
export async function accountFor(
  db: Database,
  provider: Provider,
  stated: Stated,
  address: string | undefined,
): Promise<number> {
  checkGroups(provider, stated);
  const { id, refusal } = await inTurn(db, provider, stated.uid, async (tx) => {
    const before = await accountOf(tx, provider.name, stated.uid);
    if (before) await syncProfile(tx, provider, before, stated);
    const user_id = before?.id ?? (await newlyKnown(tx, provider, stated));
    await syncAccount(tx, provider, user_id, stated);
    const account = (await accountOf(tx, provider.name, stated.uid))!;
    const refusal = refusalFor(account);
    if (!refusal && address !== undefined) await auditSignIn(tx, provider, account, address);
    return { id: user_id, refusal };
  });
  // The account that was made for somebody who has to wait stays.
  if (refusal) throw refusal;
  return id;
}

/**
 * Gives an identity to the account of somebody who is signed in.
 * @throws SignInRefused
 */
export async function linkIdentity(db: Database, provider: Provider, user_id: number, stated: Stated): Promise<void> {
  checkGroups(provider, stated);
  await inTurn(db, provider, stated.uid, async (tx) => {
    const before = await accountOf(tx, provider.name, stated.uid);
    if (before && before.id !== user_id) throw ofAnother();
    if (!before && !(await giveIdentity(tx, user_id, provider.name, stated.uid)))
      throw new SignInRefused(
        422,
        `Your account has another identity of ${provider.label}. Unlink it first.`,
        'account has another identity',
      );
  });
}
