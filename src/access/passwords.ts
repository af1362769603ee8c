/** Password digests: scrypt with a salt per password. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  length: number,
  options: object,
) => Promise<Buffer>;

/** About 60 ms and 32 MB a password, the cost that OWASP names for scrypt at this block size. Only tests may change it, for their own process. */
export const passwordCost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const length_bytes = 32;

/** The digest that the database stores: `scrypt$<salt>$<digest>`, both in base64. */
export async function passwordDigest(password: string): Promise<string> {
  const salt = randomBytes(16);
  const digest = await derive(password.normalize('NFKC'), salt, length_bytes, passwordCost);
  return `scrypt$${salt.toString('base64')}$${digest.toString('base64')}`;
}

/** Whether `password` matches the stored digest. */
export async function isPassword(password: string, kept: string): Promise<boolean> {
  const [, salt = '', digest = ''] = kept.split('$');
  const given = await derive(password.normalize('NFKC'), Buffer.from(salt, 'base64'), length_bytes, passwordCost);
  const expected = Buffer.from(digest, 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
