/** Storing, deleting and copying uploads. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Owner } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import { deleteFound, type Services, type UploadedFile } from '../../../http/index.ts';
import { storedName } from '../../../markdown/index.ts';
import { removeUnusedBlob, storeBlob, useBlob } from '../../instance/blobs/index.ts';
import { type Upload, uploadsOf } from './queries.ts';
import { secretsIn, withSecrets } from './rules.ts';

const newSecret = () => randomBytes(16).toString('hex');

/** Stores a file for a project or group. */
export async function addUpload(db: Database, owner: Owner, user_id: number, file: UploadedFile) {
  const blob_key = await storeBlob(db, file);
  const { size_bytes, sha256 } = file;
  return db.transaction().execute(async (tx) => {
    await useBlob(tx, blob_key);
    return tx
      .insertInto('uploads')
      .values({ ...owner, user_id, secret: newSecret(), filename: storedName(file.name), blob_key, size_bytes, sha256 })
      .returning(['id', 'secret', 'filename'])
      .executeTakeFirstOrThrow();
  });
}

/**
 * Deletes an upload, and its bytes unless a copy shares them.
 * @throws ApiError 404 if it no longer exists
 */
export async function removeUpload(
  { db, blobs }: Pick<Services, 'db' | 'blobs'>,
  { id, blob_key }: Upload,
): Promise<void> {
  await deleteFound(db, 'uploads', id);
  await removeUnusedBlob({ db, blobs }, blob_key);
}

/** The maximum number of uploads that are copied with an issue and its comments. */
const maximumCopies = 1000;

/**
 * Copies the uploads that texts refer to, because their readers in another place cannot read them here. The copies share the bytes.
 * @param tx the transaction that stores the texts
 * @returns the texts with the addresses of the copies, in order
 */
export async function carryUploads(tx: Database, texts: readonly string[], from: Owner, to: Owner): Promise<string[]> {
  const wanted = [...new Set(texts.flatMap(secretsIn))].slice(0, maximumCopies);
  if (wanted.length === 0) return [...texts];
  // Locked, so that the bytes are not deleted before the copies are visible.
  const originals = await uploadsOf(tx, from)
    .select(['id', 'secret'])
    .where(isAmong('secret', wanted, 'text[]'))
    .forKeyShare()
    .execute();
  const secrets = new Map(originals.map(({ secret }) => [secret, newSecret()]));
  const ids = originals.map(({ id }) => id);
  await sql`
    insert into uploads (project_id, group_id, user_id, secret, filename, blob_key, size_bytes, sha256)
    select ${to.project_id}::bigint, ${to.group_id}::bigint, user_id, copies.secret, filename, blob_key, size_bytes, sha256
      from unnest(${ids}::bigint[], ${[...secrets.values()]}::text[]) copies(id, secret) join uploads using (id)`.execute(
    tx,
  );
  return texts.map((text) => withSecrets(text, secrets));
}
