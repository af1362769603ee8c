/** The keys that sign licenses: each server has its own, and can be configured to trust one more. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Secrets } from '../../../secrets/index.ts';

/** The prefix of the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The key that this server signs licenses with. It is derived from the secret key, so all servers on one database share it. */
export const issuingKey = (secrets: Secrets): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8Head, secrets.keyFor('license issuing')]), format: 'der', type: 'pkcs8' });

/** The public key that lets another server trust the licenses of this one, as PEM. */
export const publicKeyText = (secrets: Secrets): string =>
  createPublicKey(issuingKey(secrets)).export({ format: 'pem', type: 'spki' }).toString();

/**
 * The keys whose licenses this server accepts: its own and the configured one.
 * @param licensePublicKey an Ed25519 key in PEM
 */
export const trustedKeys = (secrets: Secrets, licensePublicKey: string | undefined): KeyObject[] => [
  createPublicKey(issuingKey(secrets)),
  ...(licensePublicKey === undefined ? [] : [createPublicKey(licensePublicKey)]),
];
