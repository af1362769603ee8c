/** The host key of the SSH server, in the form that OpenSSH keeps keys in (PROTOCOL.key of OpenSSH). */
import type { KeyObject } from 'node:crypto';

const type = 'ssh-ed25519';

/** A text or bytes after their length in four bytes. */
function field(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/**
 * The public half of an Ed25519 key as `id_*.pub` files have it.
 * @param key either half
 */
export function publicKeyText(key: KeyObject): string {
  const point = Buffer.from(key.export({ format: 'jwk' }).x!, 'base64url');
  return `${type} ${Buffer.concat([field(type), field(point)]).toString('base64')}`;
}

/**
 * An Ed25519 key as OpenSSH writes private keys.
 * @param key the private half
 */
export function privateKeyText(key: KeyObject): string {
  const { d, x } = key.export({ format: 'jwk' });
  const [seed, point] = [d, x].map((part) => Buffer.from(part!, 'base64url')) as [Buffer, Buffer];
  const publicKey = Buffer.concat([field(type), field(point)]);
  // Two equal numbers, by which a reader sees that it has decrypted the rest.
  const secret = Buffer.concat([
    Buffer.alloc(8),
    field(type),
    field(point),
    field(Buffer.concat([seed, point])),
    field('coppice'),
  ]);
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, index) => index + 1));
  const whole = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    field('none'),
    field('none'),
    field(''),
    Buffer.from([0, 0, 0, 1]),
    field(publicKey),
    field(Buffer.concat([secret, padding])),
  ]);
  const lines = whole.toString('base64').match(/.{1,70}/g)!;
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n');
}
