/** The credential of a secondary: a random text that only it and the primary know. */
import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../../secrets/index.ts';
import type { GeoNode } from './queries.ts';

const purpose = 'geo credential';

/** A new credential, as the table keeps it. */
export const newCredential = (secrets: Secrets): Buffer => secrets.seal(purpose, randomBytes(32).toString('hex'));

/** The credential of a secondary, 64 hexadecimal digits; undefined where it was lost or cannot be decrypted. */
function credentialOf(secrets: Secrets, { credential }: Pick<GeoNode, 'credential'>): string | undefined {
  try {
    return credential === null ? undefined : secrets.unseal(purpose, credential);
  } catch {
    return undefined;
  }
}

/** Whether a node has the credential that it needs; a primary needs none. */
export const hasCredential = (secrets: Secrets, node: Pick<GeoNode, 'credential' | 'primary'>): boolean =>
  node.primary || credentialOf(secrets, node) !== undefined;
