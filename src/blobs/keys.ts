/** The keys of blobs, and the paths under which stores hold them. Folders, buckets and backups have the same paths, so that files can be moved between them. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { BlobKey } from './types.ts';

const keyPattern = /^([a-z][a-z0-9_]*)\/(([a-z0-9]{2})([a-z0-9]{2})[a-z0-9_-]*)$/;
const pathPattern = /^([a-z][a-z0-9_]*)\/([a-z0-9]{2})\/([a-z0-9]{2})\/(\2\3[a-z0-9_-]*)$/;

/**
 * Creates a unique key.
 * @param kind its first part
 */
export const newBlobKey = (kind: string): BlobKey => `${kind}/${randomBytes(24).toString('hex')}`;

/**
 * The path of a blob: `kind/ab/cd/abcd…`.
 * @throws TypeError for a text that is not a key
 */
export function pathOfBlob(key: string): string {
  const [, kind, name, first, second] = keyPattern.exec(key) ?? [];
  if (!kind || !name || !first || !second) throw new TypeError(`${key} is not a blob key`);
  return path.posix.join(kind, first, second, name);
}

/** The key of the blob with a path; undefined for paths that no blob has. */
export function keyAtPath(name: string): BlobKey | undefined {
  const [, kind, , , own] = pathPattern.exec(name) ?? [];
  return kind === undefined || own === undefined ? undefined : `${kind}/${own}`;
}

/** The path in a store of a blob that is set aside today: below `.unowned`, which is not a kind of blob. */
export const asidePath = (key: BlobKey): string =>
  path.posix.join('.unowned', new Date().toISOString().slice(0, 10), path.posix.basename(pathOfBlob(key)));
