/** Receives large files, and shares the large files of a project with another. */
import type { Readable } from 'node:stream';
import { sql } from 'kysely';
import { BlobMismatch, type ReceivedBlob } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { blobOf } from './queries.ts';
import type { LfsFile } from './rules.ts';

/** Creates or locks the row of an object, which protects it from the cleanup job for a while. */
async function announced(tx: Database, { oid, size }: LfsFile): Promise<number> {
  const { id } = await tx
    .insertInto('lfs_objects')
    .values({ oid, size })
    .onConflict((conflict) => conflict.column('oid').doUpdateSet({ last_upload_at: sql`now()` }))
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * Receives the bytes of an object for a project. They are compared with the oid even if the object exists already: only a client that has the bytes gets the object.
 * @throws BlobMismatch if they differ from the announced oid or size, a foreign key violation if the project is gone
 */
export async function storeObject(
  { db, blobs }: Services,
  project_id: number,
  object: LfsFile,
  source: Readable,
): Promise<void> {
  const received = await blobs.receive(blobOf(object.oid), source, { size_bytes: object.size, sha256: object.oid });
  await keepObject({ db }, project_id, object, received);
}

/**
 * As `storeObject` for bytes whose size was not announced.
 * @throws as `storeObject`
 */
export async function importObject(
  { db, blobs }: Services,
  project_id: number,
  oid: string,
  source: Readable,
): Promise<void> {
  const received = await blobs.receive(blobOf(oid), source, { at_most_bytes: Number.MAX_SAFE_INTEGER });
  if (received.sha256 !== oid) {
    await received.discard();
    throw new BlobMismatch('digest');
  }
  await keepObject({ db }, project_id, { oid, size: received.size_bytes }, received);
}

async function keepObject(
  { db }: Pick<Services, 'db'>,
  project_id: number,
  object: LfsFile,
  received: ReceivedBlob,
): Promise<void> {
  try {
    // Before the blob gets its name, so that the cleanup job finds it after a crash. The job spares it for a day, so that no transaction has to stay open while the blob store
    // takes its time.
    await announced(db, object);
    await received.keep();
    await db.transaction().execute(async (tx) => {
      const lfs_object_id = await announced(tx, object);
      await tx
        .insertInto('lfs_objects_projects')
        .values({ project_id, lfs_object_id })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    });
  } catch (error) {
    await received.discard();
    throw error;
  }
}

/** Links all objects of a project to another one, because its copied repository refers to them. */
export async function shareObjects(tx: Database, from_project_id: number, project_id: number): Promise<void> {
  await sql`
    insert into lfs_objects_projects (project_id, lfs_object_id)
    select ${project_id}, lfs_object_id from lfs_objects_projects where project_id = ${from_project_id}
    on conflict do nothing`.execute(tx);
}
