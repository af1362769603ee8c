/** Public keys that nobody has the private half of. */
import { randomBytes } from 'node:crypto';

const field = (value: Buffer | string) => Buffer.concat([Buffer.from([0, 0, 0, value.length]), Buffer.from(value)]);

/** A new Ed25519 key as `ssh-keygen` writes it. */
export const newPublicKey = (): string =>
  `ssh-ed25519 ${Buffer.concat([field('ssh-ed25519'), field(randomBytes(32))]).toString('base64')} ada@example.com`;
