/** How the keys of ID tokens are published. Pure functions. */
import { createPublicKey, hash, type KeyObject } from 'node:crypto';

/** The algorithm of all signatures. */
export const algorithm = 'RS256';

/** A public key, as it is published. */
export interface PublishedKey {
  kty: 'RSA';
  kid: string;
  e: string;
  n: string;
  use: 'sig';
  alg: typeof algorithm;
}

/** What is published of a key: its id is its thumbprint (RFC 7638). */
export function publishedKey(key: KeyObject): PublishedKey {
  const { e = '', n = '' } = createPublicKey(key.export({ format: 'pem', type: 'pkcs8' })).export({ format: 'jwk' });
  const kid = hash('sha256', JSON.stringify({ e, kty: 'RSA', n }), 'base64url');
  return { kty: 'RSA', kid, e, n, use: 'sig', alg: algorithm };
}
