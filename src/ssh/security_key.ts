/** Signatures of hardware security keys, which ssh2 does not know (PROTOCOL.u2f of OpenSSH). */
import { createHash, verify } from 'node:crypto';
import { Fields, type SshPublicKey } from './public_key.ts';

const ed25519Signature_bytes = 64;
/** The size of an integer of P-256. */
const integer_bytes = 32;
/** The flags, one byte, and the counter of the security key. */
const tail_bytes = 5;
/** The flag of a person who touched the security key. */
const userPresent = 0x01;

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();

/** An integer in a fixed number of bytes; SSH leaves out zeros and adds one before a set bit. */
function fixed(bytes: Buffer): Buffer {
  const digits = bytes.subarray(bytes.length > integer_bytes ? bytes.length - integer_bytes : 0);
  return Buffer.concat([Buffer.alloc(integer_bytes - digits.length), digits]);
}

/** The signature in the form that OpenSSL reads, and what follows it. */
function split(type: string, signature: Buffer): [own: Buffer, tail: Buffer] {
  if (type === 'sk-ssh-ed25519@openssh.com')
    return [signature.subarray(0, ed25519Signature_bytes), signature.subarray(ed25519Signature_bytes)];
  const fields = new Fields(signature);
  const [r, s] = [fields.next(), fields.next()];
  return [Buffer.concat([fixed(r), fixed(s)]), fields.rest];
}

/**
 * Whether a security key has signed bytes, and a person touched it for that.
 * @param signature as ssh2 passes it on: without its type and the length that follows
 */
export function isSignedBySecurityKey(
  { type, key, application }: SshPublicKey,
  signature: Buffer,
  bytes: Buffer,
): boolean {
  try {
    const [own, tail] = split(type, signature);
    if (!application || tail.length !== tail_bytes || (tail[0]! & userPresent) === 0) return false;
    const signed = Buffer.concat([sha256(application), tail, sha256(bytes)]);
    return key.asymmetricKeyType === 'ed25519'
      ? verify(null, signed, key, own)
      : verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, own);
  } catch (error) {
    if (error instanceof RangeError) return false; // cut off
    throw error;
  }
}
