/** Making ID tokens for jobs (docs/reference/id_tokens.md). */
import { createPrivateKey, generateKeyPair, type KeyObject, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { type CiVariable, expand, type Job } from '../../../ci_configuration/index.ts';
import type { Services } from '../../../http/index.ts';
import { keyPurpose, storedKey } from './queries.ts';
import { claimsOf, type JobFacts, publishedKey, signedToken } from './rules.ts';

const makeKeyPair = promisify(generateKeyPair);
const modulus_bits = 2048;

type Place = Pick<Services, 'db' | 'secrets'>;

/** The key of the server, which the first job that wants a token makes. Of two jobs at once, the first to store theirs wins. */
async function signingKey({ db, secrets }: Place): Promise<{ key: KeyObject; kid: string }> {
  const known = await storedKey(db);
  if (known) {
    const pem = secrets.unseal(keyPurpose, known.private_key);
    if (pem === undefined) throw new Error('the key of ID tokens cannot be decrypted');
    return { key: createPrivateKey(pem), kid: known.public_key.kid };
  }
  const { privateKey } = await makeKeyPair('rsa', { modulusLength: modulus_bits });
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const public_key = JSON.stringify(publishedKey(privateKey));
  await db
    .insertInto('id_token_keys')
    .values({ private_key: secrets.seal(keyPurpose, pem), public_key })
    .onConflict((conflicting) => conflicting.doNothing())
    .execute();
  return signingKey({ db, secrets });
}

/**
 * The ID tokens of a job, as masked variables.
 * @param wanted as its configuration has them
 * @param values of the other variables, which an audience may name
 */
export async function idTokensFor(
  services: Place,
  facts: JobFacts,
  wanted: Job['id_tokens'],
  values: Parameters<typeof expand>[1],
): Promise<CiVariable[]> {
  if (wanted.length === 0) return [];
  const { key, kid } = await signingKey(services);
  return wanted.map(({ name, aud }) => {
    const audience = typeof aud === 'string' ? expand(aud, values) : aud.map((each) => expand(each, values));
    const claims = claimsOf(facts, audience, { now_s: Math.floor(Date.now() / 1000), id: randomUUID() });
    return { key: name, value: signedToken(key, kid, claims), raw: true, masked: true };
  });
}
