/** Queries for the large files of a project. */
import type { Readable } from 'node:stream';
import { sql } from 'kysely';
import type { BlobKey, ByteRange } from '../../../blobs/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import type { StoredFiles } from '../../../services/index.ts';
import { type LfsFile, pointerIn } from './rules.ts';

/** The key of the blob of an object. */
export const blobOf = (oid: string): BlobKey => `lfs/${oid}`;

/** Whether large files are enabled for a project and all groups above it. */
export async function isLfsEnabled(db: Database, project_id: number): Promise<boolean> {
  const row = await db
    .selectFrom('projects')
    .select(
      sql<boolean>`lfs_enabled and not exists (
        select from namespaces place join namespaces above on above.id = any(place.traversal_ids)
         where place.id = projects.namespace_id and not above.lfs_enabled)`.as('is_enabled'),
    )
    .where('id', '=', project_id)
    .executeTakeFirst();
  return row?.is_enabled ?? false;
}

/** The objects among `oids` that a project has, with their actual sizes. Objects of other projects are omitted. */
export function objectsOf(db: Database, project_id: number, oids: readonly string[]): Promise<LfsFile[]> {
  return db
    .selectFrom('lfs_objects')
    .innerJoin('lfs_objects_projects', 'lfs_objects_projects.lfs_object_id', 'lfs_objects.id')
    .select(['lfs_objects.oid', 'lfs_objects.size'])
    .where('lfs_objects_projects.project_id', '=', project_id)
    .where('lfs_objects.oid', '=', sql<string>`any(${ofAnyLength(oids, 'text[]')})`)
    .execute();
}

/** The object of a project with this oid, if it has one. */
export const objectOf = async (db: Database, project_id: number, oid: string): Promise<LfsFile | undefined> =>
  (await objectsOf(db, project_id, [oid]))[0];

/**
 * The bytes of an object, which the project must have.
 * @throws Error if its blob is missing
 */
export async function readObject({ blobs }: Pick<Services, 'blobs'>, { oid }: LfsFile, range?: ByteRange) {
  const stream = await blobs.read(blobOf(oid), range);
  if (!stream) throw new Error(`the LFS object ${oid} is not in the store of blobs`);
  return stream;
}

/**
 * Returns a function that replaces the content of a pointer file with the content of its large file. The function returns undefined for other files, and if the project does not
 * have the large file.
 * @param largest_bytes larger files are not read
 */
export function largeFileReader(
  { db, blobs }: Pick<Services, 'db' | 'blobs'>,
  project_id: number,
  largest_bytes: number,
): (content: Buffer) => Promise<Readable | undefined> {
  return async (content) => {
    const pointer = pointerIn(content);
    const object = pointer && (await objectOf(db, project_id, pointer.oid));
    return object && object.size <= largest_bytes ? readObject({ blobs }, object) : undefined;
  };
}

/** Objects that no project has any more are not copied. `check` looks at the projects that share an object in a way of its own. */
export const lfsFiles: StoredFiles = {
  table: 'lfs_objects',
  key: 'oid',
  prefix: 'lfs/',
  kind: 'lfs',
  from: 'lfs_objects join lfs_objects_projects linked on linked.lfs_object_id = lfs_objects.id',
  project_id: 'linked.project_id',
  size_bytes: 'size',
  sha256: 'oid',
};
