/** Which public SSH keys are accepted. Pure functions. */
import { createHash } from 'node:crypto';
// Not from its index.ts, which loads ssh2.
import { publicKeyIn } from '../../../ssh/public_key.ts';

const forbiddenText = 'type is forbidden. Must be RSA, ECDSA, ED25519, ECDSA_SK, or ED25519_SK';
const invalidText = 'is invalid';
/** Far more than the longest valid key. */
const maximumText = 20_000;
/** OpenSSH refuses shorter keys. */
const minimumRsa_bits = 1024;
const maximumRsa_bits = 16_384;

const forbiddenTypes = new Set(['ssh-dss']);

/** Whether bytes are a key of a type, and long enough. */
function isKey(type: string, bytes: Buffer): boolean {
  const found = publicKeyIn(bytes);
  if (found?.type !== type) return false;
  const { modulusLength } = found.key.asymmetricKeyDetails ?? {};
  return modulusLength === undefined || (modulusLength >= minimumRsa_bits && modulusLength <= maximumRsa_bits);
}

export interface PublicKey {
  /** In one line, with its comment. */
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
  if (text.length > maximumText || !isKey(type, bytes)) return { refusal: invalidText };
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
