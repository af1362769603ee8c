/** Queries for uploads. */
import { sql } from 'kysely';
import type { Owner } from '../../../access/index.ts';
import type { BlobKey } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, found } from '../../../http/index.ts';
import type { StoredFiles } from '../../../services/index.ts';
import { isSecret } from './rules.ts';

/** The uploads of a project or group. */
export const uploadsOf = (db: Database, { project_id, group_id }: Owner) =>
  db
    .selectFrom('uploads')
    .$if(project_id !== null, (query) => query.where('project_id', '=', project_id))
    .$if(project_id === null, (query) => query.where('group_id', '=', group_id));

/** An upload with the columns for reading its bytes. */
export interface Upload {
  id: number;
  filename: string;
  blob_key: BlobKey;
  size_bytes: number;
  sha256: string;
}

const columns = ['id', 'filename', 'blob_key', 'size_bytes', 'sha256'] as const;

/** The list for maintainers, newest first. */
export const listedUploads = (db: Database, owner: Owner) =>
  uploadsOf(db, owner)
    .select(['id', 'size_bytes as size', 'filename', 'created_at'])
    .select(
      sql<{ id: number; name: string; username: string } | null>`(
        select json_build_object('id', users.id, 'name', users.name, 'username', users.username) from users where users.id = uploads.user_id)`.as(
        'uploaded_by',
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');

/** @throws ApiError 404 */
export const uploadById = async (db: Database, owner: Owner, id: number): Promise<Upload> =>
  found(
    undefined,
    await uploadsOf(db, owner).select(columns).where('id', '=', id).$castTo<Upload>().executeTakeFirst(),
  );

/** The parts of an upload's address. */
export interface Address {
  secret: string;
  filename: string;
}

/** @throws ApiError 404 unless both parts match */
export async function uploadAt(db: Database, owner: Owner, { secret, filename }: Address): Promise<Upload> {
  const upload =
    isSecret(secret) && !filename.includes('\0')
      ? await uploadsOf(db, owner)
          .select(columns)
          .where('secret', '=', secret)
          .where('filename', '=', filename)
          .$castTo<Upload>()
          .executeTakeFirst()
      : undefined;
  if (!upload) throw new ApiError(404, { message: '404 Not Found' });
  return upload;
}

export const uploadedFiles: StoredFiles = {
  table: 'uploads',
  key: 'blob_key',
  kind: 'uploads',
  project_id: 'uploads.project_id',
  group_id: 'uploads.group_id',
  size_bytes: 'size_bytes',
  sha256: 'sha256',
  are_uploads: true,
  check: { noun: 'an upload', name: 'filename', remedy: 'Restore it from a backup.' },
};
