/** Signing ID tokens, and changing the key that signs them (docs/reference/id_tokens.md#the-key). */
import { createPrivateKey, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { JWTPayload } from 'jose';
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { keyInUse } from './queries.ts';
import { algorithm, publishedKey } from './rules.ts';

const makeKeyPair = promisify(generateKeyPair);
const modulus_bits = 2048;
/** What the private keys are sealed for. */
const keyPurpose = 'ID token key';

type Place = Pick<Services, 'db' | 'secrets'>;

async function newKey(secrets: Services['secrets']) {
  const { privateKey } = await makeKeyPair('rsa', { modulusLength: modulus_bits });
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  return { private_key: secrets.seal(keyPurpose, pem), public_key: JSON.stringify(publishedKey(privateKey)) };
}

/** What makes a signed token of claims (RFC 7519). */
type Signer = (claims: JWTPayload) => Promise<string>;

/**
 * The signer with the key of the server, which the first token that is wanted makes. Of two at once, the first to store a key wins.
 * @throws Error if the key cannot be decrypted
 */
export async function signer({ db, secrets }: Place): Promise<Signer> {
  const known = await keyInUse(db);
  if (known) {
    const pem = secrets.unseal(keyPurpose, known.private_key);
    if (pem === undefined) throw new Error('the key of ID tokens cannot be decrypted');
    const key = createPrivateKey(pem);
    // Loaded when the first token is signed: most processes sign none.
    const { SignJWT } = await import('jose');
    const header = { kid: known.public_key.kid, typ: 'JWT', alg: algorithm };
    return (claims) => new SignJWT(claims).setProtectedHeader(header).sign(key);
  }
  await db
    .insertInto('id_token_keys')
    .values(await newKey(secrets))
    .onConflict((conflicting) => conflicting.doNothing())
    .execute();
  return signer({ db, secrets });
}

/** Gives the server another key. The former one is published for a day more, so that tokens that it has signed can be checked. */
export async function rotateSigningKey(db: Database, secrets: Services['secrets']): Promise<void> {
  const key = await newKey(secrets);
  await db.transaction().execute(async (tx) => {
    await sql`update id_token_keys set retired_at = now() where retired_at is null`.execute(tx);
    await tx.insertInto('id_token_keys').values(key).execute();
  });
}
