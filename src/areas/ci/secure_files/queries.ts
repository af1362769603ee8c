/** Queries for secure files. */
import type { BlobKey } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import { found, type Services } from '../../../http/index.ts';
import { decrypted } from '../../../secrets/index.ts';
import type { StoredFiles } from '../../../services/index.ts';

/** The purpose with which the keys of files are sealed. */
export const keyPurpose = 'secure file key';

export const secureFiles: StoredFiles = {
  table: 'secure_files',
  key: 'blob_key',
  kind: 'secure_files',
  project_id: 'secure_files.project_id',
  size_bytes: 'stored_bytes',
  sha256: 'stored_sha256',
  check: { noun: 'a secure file', name: 'name', remedy: 'Restore it from a backup, or upload the file again.' },
};

export interface SecureFileRow {
  id: number;
  name: string;
  checksum: string;
  created_at: string;
  expires_at: string | null;
  metadata: Record<string, unknown> | null;
}

/** The secure files of a project. */
export const secureFilesOf = (db: Database, project_id: number) =>
  db
    .selectFrom('secure_files')
    .select(['id', 'name', 'checksum', 'created_at', 'expires_at'])
    .select((q) => q.ref('metadata').$castTo<Record<string, unknown> | null>().as('metadata'))
    .where('project_id', '=', project_id);

/** @throws ApiError 404 */
export const secureFileOf = async (db: Database, project_id: number, id: number): Promise<SecureFileRow> =>
  found(undefined, await secureFilesOf(db, project_id).where('id', '=', id).executeTakeFirst());

/**
 * The content of a secure file, as it was sent.
 * @throws Error if its blob is missing or damaged, or its key was sealed with another secret key
 */
export async function contentOf({ db, blobs, secrets }: Services, id: number): Promise<Buffer> {
  const { blob_key, content_key } = await db
    .selectFrom('secure_files')
    .select('content_key')
    .select((q) => q.ref('blob_key').$castTo<BlobKey>().as('blob_key'))
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const key = secrets.unseal(keyPurpose, content_key);
  if (key === undefined) throw new Error(`the key of the secure file ${id} cannot be decrypted`);
  const stream = await blobs.read(blob_key);
  if (!stream) throw new Error(`the blob ${blob_key} is missing`);
  return decrypted(Buffer.from(key, 'base64'), Buffer.concat((await Array.fromAsync(stream)) as Buffer[]));
}
