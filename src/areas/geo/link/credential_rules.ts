/**
 * The credential of a secondary: a random text that only it and the primary have. It is part of the key of its
 * signatures (docs/reference/geo.md#signature).
 */
import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../../secrets/index.ts';
import type { LinkedNode } from './definition.ts';

const purpose = 'geo credential';

/** A new credential, sealed as stored in the table. */
export const newCredential = (secrets: Secrets): Buffer => secrets.seal(purpose, randomBytes(32).toString('hex'));

/** The credential of a secondary, 64 hexadecimal digits; undefined if it was lost or cannot be decrypted. */
export const credentialOf = (secrets: Secrets, { credential }: { credential: Buffer | null }): string | undefined =>
  credential === null ? undefined : secrets.unseal(purpose, credential);

/** Whether a node has the credential that it needs; a primary needs none. */
export const hasCredential = (secrets: Secrets, node: Pick<LinkedNode, 'credential' | 'primary'>): boolean =>
  node.primary || credentialOf(secrets, node) !== undefined;
