/** Public GPG keys that nobody has the private half of. */
import { generateKeyPairSync } from 'node:crypto';

const [first, last] = ['-----BEGIN PGP PUBLIC KEY BLOCK-----', '-----END PGP PUBLIC KEY BLOCK-----'];

const packet = (tag: number, body: Buffer) => Buffer.concat([Buffer.from([0xc0 | tag, body.length]), body]);

/** A new key of version 4 with a name, in the packets that matter (RFC 9580, sections 5.5 and 5.11). */
export function newGpgKey(name = 'Ada <ada@example.com>'): string {
  const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const primary = Buffer.concat([Buffer.from([4, 0x66, 0, 0, 0, 27]), Buffer.from(x!, 'base64url')]);
  return `${first}\n\n${Buffer.concat([packet(6, primary), packet(13, Buffer.from(name))]).toString('base64')}\n${last}`;
}
