/** Provisioning accounts (docs/reference/scim.md). */
import { newTokenValue, tokenDigest } from '../../../access/index.ts';
import { type Database, repeated, takeTurn } from '../../../db/index.ts';
import { audit } from '../../instance/audit_events/index.ts';
import { endClaimsTo, isTaken } from '../emails/claim_actions.ts';
import { emailReasons, storedEmail } from '../emails/rules.ts';
import { freeUsername } from '../providers/username_queries.ts';
import { endSessions } from '../sessions/actions.ts';
import { createUser } from '../users/actions.ts';
import { setIdentity } from '../users/identity_actions.ts';
import { blockUser, unblockUser } from '../users/moderation_actions.ts';
import { personNameReasons } from '../users/rules.ts';
import { type ScimUser, scimUser } from './queries.ts';
import { invalidValue, type Patch, type Provisioned, ScimError, taken } from './rules.ts';

/** The program that provisions accounts, as audit events name it. */
export const scimActor = { id: -1, name: 'SCIM', class: 'ApplicationToken' } as const;

/** Makes a token, which ends the former one. @returns its value, which is not kept */
export async function renewToken(db: Database): Promise<string> {
  const token = newTokenValue('glsoat-');
  const token_digest = tokenDigest(token);
  await db
    .insertInto('scim_tokens')
    .values({ token_digest })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ token_digest, created_at: new Date().toISOString() }))
    .execute();
  return token;
}

/** One change of an identity after the other, as at sign-ins. */
const inTurn = <T>(db: Database, provider: string, uid: string, work: (tx: Database) => Promise<T>): Promise<T> =>
  repeated(db, async (tx) => {
    await takeTurn(tx, `identity ${provider} ${uid}`);
    return work(tx);
  });

/**
 * Creates an account with an identity. One that exists is never taken over.
 * @throws ScimError 400, 409
 */
export const provision = (db: Database, provider: string, given: Provisioned): Promise<ScimUser> =>
  inTurn(db, provider, given.uid, async (tx) => {
    const { uid, name, active } = given;
    if (emailReasons(given.email).length > 0) throw invalidValue('emails is invalid');
    if (personNameReasons(name).length > 0) throw invalidValue('name is invalid');
    if (await scimUser(tx, provider, uid)) throw taken('externalId');
    const email = storedEmail(given.email);
    await endClaimsTo(tx, email);
    const { is_taken } = await tx.selectNoFrom(isTaken(email, null).as('is_taken')).executeTakeFirstOrThrow();
    if (is_taken) throw taken('emails');
    const username = await freeUsername(tx, given, false);
    const id = await createUser(tx, { username, name, email, confirmed: true });
    await setIdentity(tx, id, { provider, extern_uid: uid });
    if (!active) await blockUser(tx, undefined, id);
    await audit(tx, {
      event_name: 'user_provisioned_by_scim',
      entity: { type: 'User', id },
      details: { custom_message: `Provisioned for ${provider}` },
    });
    return (await scimUser(tx, provider, uid))!;
  });

/** @throws ScimError 403 for the only administrator: without them nobody could change anything */
async function checkNotLast(tx: Database, id: number): Promise<void> {
  await takeTurn(tx, 'the last administrator');
  const people = tx.selectFrom('users').where('state', '=', 'active').where('user_type', '=', 'human');
  const admins = await people.where('admin', '=', true).select('id').limit(2).execute();
  if (admins.length === 1 && admins[0]!.id === id) throw new ScimError(403, 'The last administrator cannot be blocked');
}

async function setActive(tx: Database, { id, state }: ScimUser, active: boolean): Promise<void> {
  if (active) {
    if (state !== 'active' && state !== 'deactivated') await unblockUser(tx, id);
    return;
  }
  await checkNotLast(tx, id);
  await blockUser(tx, undefined, id);
  await endSessions(tx, id);
}

/** @throws ScimError 404 */
async function lockedUser(tx: Database, provider: string, uid: string): Promise<ScimUser> {
  const user = await scimUser(tx, provider, uid, { lock: true });
  if (!user) throw new ScimError(404, 'User not found');
  return user;
}

/**
 * Blocks or unblocks an account, and changes its uid.
 * @throws ScimError 403, 404, 409
 */
export async function changeAccount(
  db: Database,
  provider: string,
  uid: string,
  { active, uid: wanted }: Patch,
): Promise<void> {
  await inTurn(db, provider, wanted ?? uid, async (tx) => {
    const user = await lockedUser(tx, provider, uid);
    if (active !== undefined) await setActive(tx, user, active);
    if (wanted === undefined || wanted === uid) return;
    if (await scimUser(tx, provider, wanted)) throw taken('externalId');
    await setIdentity(tx, user.id, { provider, extern_uid: wanted });
  });
}

/**
 * Blocks an account and ends its sessions. The account and its identity stay.
 * @throws ScimError 403, 404
 */
export const removeAccount = (db: Database, provider: string, uid: string): Promise<void> =>
  changeAccount(db, provider, uid, { active: false });
