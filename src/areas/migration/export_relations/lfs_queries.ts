/** The large files of a project as an archive. */
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { blobOf } from '../../code/lfs/index.ts';
import { batchesOf, inPortions, whole } from './batch_queries.ts';
import type { ArchiveCall, ArchiveEntry, ExportedArchive } from './definition.ts';
import { blobEntry } from './tar_actions.ts';

/** The type of an object's repository: 0 is the project's own, other numbers are its wiki or its designs. */
const repositoryType = 0;

async function* entries({ tx, owner, batch = whole, blobs, log }: ArchiveCall): AsyncGenerator<ArchiveEntry> {
  const rows = inPortions((after, limit) =>
    tx
      .selectFrom('lfs_objects_projects')
      .innerJoin('lfs_objects', 'lfs_objects.id', 'lfs_object_id')
      .select(['lfs_objects.id', 'oid', 'size'])
      .where('project_id', '=', owner.id)
      .where('lfs_object_id', '>', after)
      .where('lfs_object_id', '>=', batch.first_id)
      .where('lfs_object_id', '<=', batch.last_id)
      .orderBy('lfs_object_id')
      .limit(limit)
      .execute(),
  );
  const exported: string[] = [];
  for await (const { oid, size } of rows) {
    const entry = await blobEntry(blobs, oid, blobOf(oid), size);
    if (entry) {
      exported.push(oid);
      yield entry;
    } else log.warn({ ...owner, oid }, 'a large file is lost or damaged and was not exported');
  }
  const types = Buffer.from(JSON.stringify(Object.fromEntries(exported.map((oid) => [oid, [repositoryType]]))));
  yield { name: 'lfs_objects.json', size_bytes: types.length, content: Readable.from([types]), is_object: false };
}

export const lfsArchive: ExportedArchive = {
  name: 'lfs_objects',
  form: 'archive',
  is_batched: true,
  batches: (tx, { owner }, size) =>
    batchesOf(tx, sql`select lfs_object_id as id from lfs_objects_projects where project_id = ${owner.id}`, size),
  entries,
};
