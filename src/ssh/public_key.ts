/** Public keys as SSH writes them (RFC 4253, RFC 5656, RFC 8709, and PROTOCOL.u2f of OpenSSH). Pure functions; ssh2 is not needed. */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';

/** Reads length-prefixed fields. */
export class Fields {
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
  /** What has not been read. */
  get rest(): Buffer {
    return this.#bytes.subarray(this.#at);
  }
}

export interface SshPublicKey {
  type: string;
  key: KeyObject;
  /** What the key of a hardware security key is for; undefined for other keys. */
  application: Buffer | undefined;
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

const readers: Record<string, (fields: Fields) => JsonWebKey | undefined> = {
  'ssh-rsa': rsa,
  'ssh-ed25519': ed25519,
  'ecdsa-sha2-nistp256': (fields) => ecdsa(fields, 'nistp256'),
  'ecdsa-sha2-nistp384': (fields) => ecdsa(fields, 'nistp384'),
  'ecdsa-sha2-nistp521': (fields) => ecdsa(fields, 'nistp521'),
  'sk-ssh-ed25519@openssh.com': ed25519,
  'sk-ecdsa-sha2-nistp256@openssh.com': (fields) => ecdsa(fields, 'nistp256'),
};

/** Shorter RSA keys can be broken, and longer ones take long to verify. */
export const rsa_bits = { least: 2048, most: 16_384 };

/** Whether a key is an RSA key that is too short to be safe. */
export const isShort = ({ key }: SshPublicKey): boolean =>
  (key.asymmetricKeyDetails?.modulusLength ?? Infinity) < rsa_bits.least;

/**
 * Reads the second word of an `id_*.pub` file. OpenSSL checks the mathematics.
 * @returns undefined for bytes that are no key of a known type
 */
export function publicKeyIn(bytes: Buffer): SshPublicKey | undefined {
  try {
    const fields = new Fields(bytes);
    const type = fields.next().toString('latin1');
    const jwk = Object.hasOwn(readers, type) ? readers[type]!(fields) : undefined;
    if (!jwk) return undefined;
    // Keys of hardware security keys name their application after the point.
    const application = type.startsWith('sk-') ? fields.next() : undefined;
    if (application?.length === 0 || fields.rest.length > 0) return undefined;
    return { type, key: createPublicKey({ key: jwk, format: 'jwk' }), application };
  } catch {
    // All broken keys are treated alike.
    return undefined;
  }
}
