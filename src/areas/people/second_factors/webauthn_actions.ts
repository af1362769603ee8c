/** Adding passkeys and security keys, and taking their answers (docs/reference/second_factors.md#keys). */
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { sql } from 'kysely';
import type { Device } from '../../../access/index.ts';
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import { invalid, type Services, unprocessable } from '../../../http/index.ts';
import { noteChange } from '../account_notices/jobs.ts';
import { type Actor, factorAdded } from './change_actions.ts';
import { isOwnChallenge, keyHostOf, newChallenge, type Purpose } from './webauthn_rules.ts';

/** The most keys of one user. */
const maximumKeys = 20;
const maximumName_characters = 255;
/** The longest answer of a key: no authenticator sends as much. */
const longestAnswer_characters = 20_000;

/** COSE algorithms that all keys have one of: ES256, EdDSA and RS256. */
const algorithms = [-7, -8, -257];

type Web = Pick<Services, 'secrets' | 'url'>;

/** A browser that was given a challenge. */
interface Answering {
  /** The answer of the key, in JSON. */
  answer: string;
  device: Device;
}

export const refusedKey = () => unprocessable('The key was not accepted. Try again.');

function parsed<Answer>(answer: string): Answer {
  if (answer.length > longestAnswer_characters) throw refusedKey();
  try {
    return JSON.parse(answer) as Answer;
  } catch {
    throw refusedKey();
  }
}

/**
 * What a browser needs to add a key, in JSON; undefined where browsers allow none.
 * @param browser the id of the browser
 */
export async function registrationOptions(
  { secrets, url }: Web,
  db: Database,
  user: { id: number; username: string; name: string },
  browser: string,
): Promise<string | undefined> {
  const host = keyHostOf(url);
  if (host === undefined) return undefined;
  const options = await generateRegistrationOptions({
    rpName: host,
    rpID: host,
    userID: new Uint8Array(Buffer.from(String(user.id))),
    userName: user.username,
    userDisplayName: user.name,
    challenge: new Uint8Array(newChallenge(secrets, { browser, purpose: 'registration' })),
    excludeCredentials: await credentialsOf(db, user.id),
    supportedAlgorithmIDs: algorithms,
  });
  return JSON.stringify(options);
}

/** What a browser needs to sign in by a passkey of anybody, or by a key of one user; undefined where browsers allow none. */
export async function authenticationOptions(
  { secrets, url }: Web,
  db: Database,
  { browser, user_id }: { browser: string; user_id?: number },
): Promise<string | undefined> {
  const host = keyHostOf(url);
  if (host === undefined) return undefined;
  const purpose = user_id === undefined ? 'passkey' : 'second factor';
  const options = await generateAuthenticationOptions({
    rpID: host,
    challenge: new Uint8Array(newChallenge(secrets, { browser, purpose })),
    userVerification: user_id === undefined ? 'required' : 'discouraged',
    ...(user_id === undefined ? {} : { allowCredentials: await credentialsOf(db, user_id) }),
  });
  return JSON.stringify(options);
}

async function credentialsOf(db: Database, user_id: number): Promise<{ id: string; transports: string[] }[]> {
  const rows = await db
    .selectFrom('webauthn_credentials')
    .select(['credential_id', 'transports'])
    .where('user_id', '=', user_id)
    .where('disabled_at', 'is', null)
    .execute();
  return rows.map(({ credential_id, transports }) => ({ id: credential_id.toString('base64url'), transports }));
}

/** Whether a challenge is ours, for this browser and purpose, and was not answered before. */
async function takeChallenge(
  { secrets }: Web,
  tx: Database,
  { device, purpose }: { device: Device; purpose: Purpose },
  challenge: string,
): Promise<boolean> {
  const bytes = Buffer.from(challenge, 'base64url');
  if (!device.browser || !isOwnChallenge(secrets, bytes, { browser: device.browser.id, purpose })) return false;
  const taken = await tx
    .insertInto('used_webauthn_challenges')
    .values({ digest: bytes })
    .onConflict((conflict) => conflict.doNothing())
    .returning('digest')
    .executeTakeFirst();
  return taken !== undefined;
}

interface NewKey extends Answering {
  name: string;
  /** Whether it is to sign in by itself: then it must verify the person. */
  is_passkey: boolean;
}

/**
 * Adds a key. The other sessions of the user end.
 * @returns recovery codes, if it is the first factor of the user
 * @throws ApiError 400 for a bad name or one key too many, 422 for an answer that is not right
 */
export async function addKey(services: Services, actor: Actor, key: NewKey): Promise<string[] | undefined> {
  const name = key.name.trim();
  if (name === '') throw invalid({ name: ['is empty'] });
  if (name.length > maximumName_characters)
    throw invalid({ name: [`is too long (maximum is ${maximumName_characters} characters)`] });
  return services.db.transaction().execute((tx) =>
    factorAdded(tx, actor, 'webauthn_key', async () => {
      const { length } = await tx
        .selectFrom('webauthn_credentials')
        .select('id')
        .where('user_id', '=', actor.id)
        .execute();
      if (length >= maximumKeys) throw invalid({ name: [`cannot be added: you have ${maximumKeys} keys already`] });
      await insertKey(services, tx, actor.id, { ...key, name });
    }),
  );
}

async function insertKey(services: Services, tx: Database, user_id: number, key: NewKey): Promise<void> {
  const { name, is_passkey, device, answer } = key;
  const host = keyHostOf(services.url);
  if (host === undefined) throw refusedKey();
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: parsed<RegistrationResponseJSON>(answer),
    expectedChallenge: (challenge) => takeChallenge(services, tx, { device, purpose: 'registration' }, challenge),
    expectedOrigin: new URL(services.url).origin,
    expectedRPID: host,
    requireUserVerification: is_passkey,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => {
    throw refusedKey();
  });
  if (!verified) throw refusedKey();
  const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
  const inserted = tx.insertInto('webauthn_credentials').values({
    user_id,
    credential_id: Buffer.from(id, 'base64url'),
    public_key: Buffer.from(publicKey),
    counter,
    transports: sql<string[]>`${transports}::text[]`,
    name,
    is_passkey,
  });
  await inserted.execute().catch((error: unknown) => {
    throw isUniqueViolation(error, 'webauthn_credentials_credential_id_key')
      ? invalid({ name: ['cannot be added: the key is registered already'] })
      : error;
  });
}

interface Assertion extends Answering {
  purpose: 'passkey' | 'second factor';
  /** The user whose key it has to be; by default any user with a passkey. */
  user_id?: number;
}

/**
 * Takes the answer of a key.
 * @param tx a transaction
 * @returns the id of its user; undefined for a key that has just been disabled, which the transaction has to keep
 * @throws ApiError 422 for an answer that is not right
 */
export async function takeAssertion(
  services: Services,
  tx: Database,
  { answer, device, purpose, user_id }: Assertion,
): Promise<number | undefined> {
  const response = parsed<AuthenticationResponseJSON>(answer);
  const host = keyHostOf(services.url);
  const credential = typeof response?.id === 'string' ? await lockedKey(tx, response.id) : undefined;
  const isTheirs = credential && (user_id === undefined ? credential.is_passkey : credential.user_id === user_id);
  if (host === undefined || !isTheirs || credential.disabled_at !== null) throw refusedKey();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: (challenge) => takeChallenge(services, tx, { device, purpose }, challenge),
    expectedOrigin: new URL(services.url).origin,
    expectedRPID: host,
    // A counter that went back is told to the user, so that it is compared below.
    credential: { id: response.id, publicKey: new Uint8Array(credential.public_key), counter: 0 },
    requireUserVerification: purpose === 'passkey',
  }).catch(() => {
    throw refusedKey();
  });
  if (!verified) throw refusedKey();
  const { newCounter } = authenticationInfo;
  const wentBack = (newCounter > 0 || credential.counter > 0) && newCounter <= credential.counter;
  await tx
    .updateTable('webauthn_credentials')
    .set(wentBack ? { disabled_at: sql<string>`now()` } : { counter: newCounter, last_used_at: sql<string>`now()` })
    .where('id', '=', credential.id)
    .execute();
  if (!wentBack) return credential.user_id;
  await noteChange(tx, credential.user_id, 'webauthn_key_disabled');
  return undefined;
}

async function lockedKey(tx: Database, id: string) {
  return tx
    .selectFrom('webauthn_credentials')
    .select(['id', 'user_id', 'public_key', 'counter', 'is_passkey', 'disabled_at'])
    .where('credential_id', '=', Buffer.from(id, 'base64url'))
    .forUpdate()
    .executeTakeFirst();
}
