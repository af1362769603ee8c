/** The uses of the secret key. Each purpose has its own derived key, so that one reveals nothing about another. */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { SealedPurpose } from './sealed_columns.ts';

export interface Secrets {
  /**
   * A key for one purpose.
   * @returns 32 bytes, always the same
   */
  keyFor(purpose: string): Buffer;
  /** An Ed25519 key for one purpose, always the same. */
  signingKeyFor(purpose: string): KeyObject;
  /** Encrypts a text so that it can be neither read nor changed without the secret key. */
  seal(purpose: SealedPurpose, text: string): Buffer;
  /**
   * Decrypts a text that was sealed for the same purpose.
   * @returns undefined when it was sealed with another key or for another purpose, or was changed
   */
  unseal(purpose: SealedPurpose, sealed: Buffer): string | undefined;
  /** What is stored of a text after a change: what is there already, if it is the same text. Encrypted anew, each text would look like a change. */
  resealed(purpose: SealedPurpose, before: Buffer | null, text: string): Buffer;
  /**
   * A token for a link that proves that this server made it. It is not stored: the seed in the database is useless without the secret key.
   * @param seed a random UUID, by which the row that the link is about is found
   */
  linkToken(purpose: string, seed: string): string;
  /** The seed of a link token of this server, or undefined for any other text. */
  seedOfLink(purpose: string, token: string): string | undefined;
}

const nonce_bytes = 12;
const tag_bytes = 16;
const seed_bytes = 16;
/** The prefix of the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The purpose of keys that sign links. */
export function secretsFrom(secretKey: string): Secrets {
  const derived = new Map<string, Buffer>();
  const keyFor = (purpose: string): Buffer => {
    const known = derived.get(purpose);
    if (known) return known;
    const key = Buffer.from(hkdfSync('sha256', secretKey, '', `coppice ${purpose}`, 32));
    derived.set(purpose, key);
    return key;
  };
  const proofOf = (purpose: string, seed: Buffer) =>
    createHmac('sha256', keyFor(purpose)).update(seed).digest().subarray(0, tag_bytes);
  const secrets: Secrets = {
    keyFor,
    signingKeyFor: (purpose) =>
      createPrivateKey({ key: Buffer.concat([pkcs8Head, keyFor(purpose)]), format: 'der', type: 'pkcs8' }),
    seal: (purpose, text) => {
      const nonce = randomBytes(nonce_bytes);
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose), nonce);
      const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), content]);
    },
    unseal: (purpose, sealed) => {
      try {
        const decipher = createDecipheriv('aes-256-gcm', keyFor(purpose), sealed.subarray(0, nonce_bytes));
        decipher.setAuthTag(sealed.subarray(nonce_bytes, nonce_bytes + tag_bytes));
        const content = decipher.update(sealed.subarray(nonce_bytes + tag_bytes));
        return Buffer.concat([content, decipher.final()]).toString('utf8');
      } catch {
        return undefined;
      }
    },
    linkToken: (purpose, seed) => {
      const bytes = Buffer.from(seed.replaceAll('-', ''), 'hex');
      return Buffer.concat([bytes, proofOf(purpose, bytes)]).toString('base64url');
    },
    seedOfLink: (purpose, token) => {
      const bytes = Buffer.from(token, 'base64url');
      if (bytes.length !== seed_bytes + tag_bytes || bytes.toString('base64url') !== token) return undefined;
      const [seed, proof] = [bytes.subarray(0, seed_bytes), bytes.subarray(seed_bytes)];
      if (!timingSafeEqual(proof, proofOf(purpose, seed))) return undefined;
      return seed.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    },
    resealed: (purpose, before, text) =>
      before !== null && secrets.unseal(purpose, before) === text ? before : secrets.seal(purpose, text),
  };
  return secrets;
}

/** Compares secret keys without revealing them. */
export const fingerprintOf = (secrets: Secrets): Buffer => secrets.keyFor('fingerprint');
