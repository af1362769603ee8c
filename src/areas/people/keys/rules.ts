/** Which public SSH keys are accepted. Pure functions. */
import { createHash } from 'node:crypto';
// Not from its index.ts, which loads ssh2.
import { isShort, publicKeyIn, rsa_bits, type SshPublicKey } from '../../../ssh/public_key.ts';

const forbiddenText = 'type is forbidden. Must be RSA, ECDSA, ED25519, ECDSA_SK, or ED25519_SK';
const invalidText = 'is invalid';
const shortText = `must be at least ${rsa_bits.least} bits`;
/** Far more than the longest valid key. */
const maximumText = 20_000;

const forbiddenTypes = new Set(['ssh-dss']);

/** Parses the key in the bytes; undefined if they are not a key of this type, or one that is too long. */
function keyOf(type: string, bytes: Buffer): SshPublicKey | undefined {
  const found = publicKeyIn(bytes);
  const isLong = (found?.key.asymmetricKeyDetails?.modulusLength ?? 0) > rsa_bits.most;
  return found?.type === type && !isLong ? found : undefined;
}

export interface PublicKey {
  /** The key in one line, with its comment. */
  text: string;
  /** Base64 of the SHA-256 digest of the key without its comment, as OpenSSH shows it. */
  fingerprint_sha256: string;
}

/**
 * Reads a line of an `id_*.pub` file.
 * @returns the key, or the reason why the text is not a key
 */
export function readPublicKey(text: string): PublicKey | { refusal: string } {
  const [, type = '', base64 = ''] = /^(\S+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t][^\r\n]*)?$/.exec(text.trim()) ?? [];
  if (forbiddenTypes.has(type)) return { refusal: forbiddenText };
  const bytes = Buffer.from(base64, 'base64');
  const key = text.length > maximumText ? undefined : keyOf(type, bytes);
  if (!key) return { refusal: invalidText };
  if (isShort(key)) return { refusal: shortText };
  const fingerprint_sha256 = createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '');
  return { text: text.trim(), fingerprint_sha256 };
}

const maximumTitle = 255;

/** Why a text cannot be the title of a key. */
export function titleReasons(title: string): string[] {
  if (title.trim() === '') return ["can't be blank"];
  return [...title].length > maximumTitle ? [`is too long (maximum is ${maximumTitle} characters)`] : [];
}

/** Why a text is not a key. */
export function keyReasons(text: string): string[] {
  const key = readPublicKey(text);
  return 'refusal' in key ? [key.refusal] : [];
}
