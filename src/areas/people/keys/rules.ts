/** Parsing public SSH keys (RFC 4253, RFC 5656, RFC 8709, and PROTOCOL.u2f of OpenSSH). Pure functions. */
import { createHash, createPublicKey, type JsonWebKey } from 'node:crypto';

const forbiddenText = 'type is forbidden. Must be RSA, ECDSA, ED25519, ECDSA_SK, or ED25519_SK';
const invalidText = 'is invalid';
/** Far more than the longest valid key. */
const maximumText = 20_000;
/** OpenSSH refuses shorter keys. */
const minimumRsa_bits = 1024;
const maximumRsa_bits = 16_384;

/** Reads the length-prefixed fields of a key. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }
  /** @throws RangeError when there is no further field */
  next(): Buffer {
    const start = this.#at + 4;
    const end = start + this.#bytes.readUInt32BE(this.#at);
    if (end > this.#bytes.length) throw new RangeError('the field is cut off');
    this.#at = end;
    return this.#bytes.subarray(start, end);
  }
  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }
}

const curves: Record<string, { crv: string; size: number }> = {
  nistp256: { crv: 'P-256', size: 32 },
  nistp384: { crv: 'P-384', size: 48 },
  nistp521: { crv: 'P-521', size: 66 },
};

/** An integer without the zero that keeps it from looking negative. */
const unsigned = (bytes: Buffer) => bytes.subarray(bytes.findIndex((byte) => byte !== 0)).toString('base64url');

function rsa(fields: Fields): JsonWebKey {
  const [e, n] = [fields.next(), fields.next()];
  return { kty: 'RSA', e: unsigned(e), n: unsigned(n) };
}

function ecdsa(fields: Fields, name: string): JsonWebKey | undefined {
  const curve = curves[name];
  const point = fields.next().toString('latin1') === name ? fields.next() : Buffer.alloc(0);
  if (!curve || point.length !== 1 + 2 * curve.size || point[0] !== 4) return undefined;
  const [x, y] = [point.subarray(1, 1 + curve.size), point.subarray(1 + curve.size)];
  return { kty: 'EC', crv: curve.crv, x: x.toString('base64url'), y: y.toString('base64url') };
}

function ed25519(fields: Fields): JsonWebKey | undefined {
  const point = fields.next();
  return point.length === 32 ? { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') } : undefined;
}

/** Keys of hardware security keys name their application after the point. */
function withApplication(key: JsonWebKey | undefined, fields: Fields): JsonWebKey | undefined {
  return fields.next().length > 0 ? key : undefined;
}

const readers: Record<string, (fields: Fields) => JsonWebKey | undefined> = {
  'ssh-rsa': rsa,
  'ssh-ed25519': ed25519,
  'ecdsa-sha2-nistp256': (fields) => ecdsa(fields, 'nistp256'),
  'ecdsa-sha2-nistp384': (fields) => ecdsa(fields, 'nistp384'),
  'ecdsa-sha2-nistp521': (fields) => ecdsa(fields, 'nistp521'),
  'sk-ssh-ed25519@openssh.com': (fields) => withApplication(ed25519(fields), fields),
  'sk-ecdsa-sha2-nistp256@openssh.com': (fields) => withApplication(ecdsa(fields, 'nistp256'), fields),
};
const forbiddenTypes = new Set(['ssh-dss']);

/** Whether bytes are a key of a type. OpenSSL checks the mathematics. */
function isKey(type: string, bytes: Buffer): boolean {
  try {
    const fields = new Fields(bytes);
    if (fields.next().toString('latin1') !== type) return false;
    const jwk = readers[type]!(fields);
    if (!jwk || !fields.isAtEnd) return false;
    const { modulusLength } = createPublicKey({ key: jwk, format: 'jwk' }).asymmetricKeyDetails ?? {};
    return modulusLength === undefined || (modulusLength >= minimumRsa_bits && modulusLength <= maximumRsa_bits);
  } catch {
    // All broken keys get the same refusal.
    return false;
  }
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
  if (text.length > maximumText || !Object.hasOwn(readers, type) || !isKey(type, bytes)) return { refusal: invalidText };
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
