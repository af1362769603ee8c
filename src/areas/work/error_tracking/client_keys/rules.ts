/** The format of client keys, and the URLs for sending errors. */
import { randomBytes } from 'node:crypto';
import type { Project } from '../../../../access/index.ts';

/** A new public key of a client (docs/reference/error_tracking.md). */
export const newPublicKey = (): string => `glet_${randomBytes(16).toString('hex')}`;

/**
 * The DSN to configure in an application: SDKs use its last path segment as the project, and the user as the key.
 * @param url the external address of the server, without a trailing slash
 */
export function dsnOf(url: string, project: Pick<Project, 'id'>, public_key: string): string {
  const dsn = new URL(`${url}/api/v4/error_tracking/collector/${project.id}`);
  dsn.username = public_key;
  return dsn.href;
}
