/** The keys that sign licenses: each server has its own, and can be configured to trust one more. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Secrets } from '../../../secrets/index.ts';

/** The key that this server signs licenses with. It is derived from the secret key, so all servers on one database share it. */
export const issuingKey = (secrets: Secrets): KeyObject => secrets.signingKeyFor('license issuing');

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
