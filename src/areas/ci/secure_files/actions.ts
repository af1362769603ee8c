/** Storing secure files. */
import { hash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { newBlobKey, type ReceivedBlob } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import { invalid, type Services, type UploadedFile } from '../../../http/index.ts';
import { encrypted } from '../../../secrets/index.ts';
import { bytesOf, removeUnusedBlob, storeBlob, useBlob } from '../../instance/blobs/index.ts';
import { keyPurpose, type SecureFileRow, secureFileOf, secureFiles } from './queries.ts';
import { metadataOf } from './rules.ts';

export const maximumFiles = 100;
export const tooManyText = `Maximum number of secure files (${maximumFiles}) exceeded`;
export const takenText = 'has already been taken';

type Place = Pick<Services, 'db' | 'blobs' | 'secrets'>;

/** Refuses what the project has no place for. Locks its row, so that requests at the same time cannot exceed the limit together. @throws ApiError 400 */
async function refuseBeyond(tx: Database, project_id: number, name: string): Promise<void> {
  await tx.selectFrom('projects').select('id').where('id', '=', project_id).forNoKeyUpdate().executeTakeFirst();
  const { count, taken } = await tx
    .selectFrom('secure_files')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .select((q) => q.fn.agg<boolean | null>('bool_or', [q('name', '=', name)]).as('taken'))
    .where('project_id', '=', project_id)
    .executeTakeFirstOrThrow();
  if (taken) throw invalid({ name: [takenText] });
  if (count >= maximumFiles) throw invalid({ base: [tooManyText] });
}

/** A file that is to be stored. */
interface NewFile {
  project_id: number;
  name: string;
  content: Buffer;
}

async function insertFile(
  tx: Database,
  { project_id, name, content }: NewFile,
  { blob, content_key }: { blob: ReceivedBlob; content_key: Buffer },
): Promise<SecureFileRow> {
  await refuseBeyond(tx, project_id, name);
  const metadata = metadataOf(name, content);
  const { id } = await tx
    .insertInto('secure_files')
    .values({
      ...{ project_id, name, checksum: hash('sha256', content), content_key },
      ...{ blob_key: blob.key, stored_bytes: blob.size_bytes, stored_sha256: blob.sha256 },
      ...{ metadata: metadata && JSON.stringify(metadata), expires_at: metadata?.expires_at ?? null },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await useBlob(tx, blob.key);
  return secureFileOf(tx, project_id, id);
}

/**
 * Stores a file, encrypted with a key of its own.
 * @throws ApiError 400 if the project has one of the same name, or as many as it may have
 */
export async function addSecureFile(
  services: Place,
  place: Pick<NewFile, 'project_id' | 'name'>,
  file: UploadedFile,
): Promise<SecureFileRow> {
  const { db, blobs, secrets } = services;
  const content = await bytesOf(services, file);
  const key = randomBytes(32);
  const stored = await encrypted(key, content);
  const blob = await blobs.receive(newBlobKey(secureFiles.kind), Readable.from([stored]), {
    at_most_bytes: stored.length,
  });
  await storeBlob(db, blob);
  try {
    const content_key = secrets.seal(keyPurpose, key.toString('base64'));
    return await db.transaction().execute((tx) => insertFile(tx, { ...place, content }, { blob, content_key }));
  } catch (error) {
    await removeUnusedBlob(services, blob.key);
    throw error;
  }
}
