/**
 * The credential that a batch issues for its transfers: for one project and one operation, short-lived, and valid only as long as the token, SSH key or job that it was derived from. It
 * is signed, not stored; only the signing key is stored.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from '../../../db/index.ts';

export type Operation = 'download' | 'upload';

/** The token, SSH key or job that a credential was derived from, by ID. */
export type Origin = { token_id: number } | { ssh_key_id: number } | { job_id: number };

export interface Credential {
  /** Where it was derived from. */
  from: Origin;
  project_id: number;
  operation: Operation;
  /** Milliseconds since 1970. */
  expires_at_ms: number;
}

/** How long transfers of a batch can be started. After that the client requests a new batch. */
export const lifetime_s = 1800;

/** No other token has this prefix. */
const prefix = 'lfs-';

/** Whether a password has the form of such a credential. */
export const isCredential = (password: string): boolean => password.startsWith(prefix);

const signatureOf = (payload: string, key: Buffer): Buffer => createHmac('sha256', key).update(payload).digest();

async function signingKey(db: Database): Promise<Buffer> {
  const { key } = await db.selectFrom('lfs_credential_keys').select('key').executeTakeFirstOrThrow();
  return key;
}

/** A signed credential as the password of HTTP Basic. */
export async function signed(
  db: Database,
  { from, project_id, operation, expires_at_ms }: Credential,
): Promise<string> {
  const origin = 'token_id' in from ? from.token_id : 'job_id' in from ? `j${from.job_id}` : `k${from.ssh_key_id}`;
  const payload = [origin, project_id, operation, expires_at_ms].join('.');
  return `${prefix}${payload}.${signatureOf(payload, await signingKey(db)).toString('base64url')}`;
}

/** The credential in a password; undefined if it was not issued here, was modified, or has expired. */
export async function credentialIn(db: Database, password: string): Promise<Credential | undefined> {
  const [, payload, kind, id, project_id, operation, expires_at_ms, signature] =
    /^lfs-(([jk]?)(\d{1,15})\.(\d{1,15})\.(download|upload)\.(\d{1,15}))\.([\w-]{43})$/.exec(password) ?? [];
  if (payload === undefined || signature === undefined) return undefined;
  if (!timingSafeEqual(Buffer.from(signature, 'base64url'), signatureOf(payload, await signingKey(db))))
    return undefined;
  if (Number(expires_at_ms) <= Date.now()) return undefined;
  return {
    from: kind === 'k' ? { ssh_key_id: Number(id) } : kind === 'j' ? { job_id: Number(id) } : { token_id: Number(id) },
    project_id: Number(project_id),
    operation: operation as Operation,
    expires_at_ms: Number(expires_at_ms),
  };
}
