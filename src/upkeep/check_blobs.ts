/** Compares blobs with their checksums and with the rows that refer to them. */
import { isIntact } from './blob_digest.ts';
import type { CheckOptions, Finding } from './finding.ts';

/** Younger files may belong to an upload in progress. */
const abandoned_ms = 24 * 60 * 60_000;
const rowsAtOnce = 10_000;

/** LFS objects: each blob matches the digest in its name and has a row, and each row of a project has its blob. */
export async function* checkBlobs({ db, blobs, signal }: CheckOptions): AsyncGenerator<Finding> {
  for await (const key of blobs.keys('lfs')) {
    signal.throwIfAborted();
    const file = blobs.placeOf(key);
    const oid = key.slice('lfs/'.length);
    const found = await blobs.stat(key);
    if (!found) continue;
    if (!(await isIntact(blobs, key, oid, signal)))
      yield { sentence: `${file} is damaged: its content does not match its name.` };
    const row = await db.selectFrom('lfs_objects').select('id').where('oid', '=', oid).executeTakeFirst();
    if (row || Date.now() - found.changed_at_ms < abandoned_ms) continue;
    yield {
      sentence: `${file} belongs to no project.`,
      repair: async () => `Moved to ${await blobs.setAside(key)}. Delete it when you are sure.`,
    };
  }
  yield* checkRows({ db, blobs, signal });
}

async function* checkRows({
  db,
  blobs,
  signal,
}: Pick<CheckOptions, 'db' | 'blobs' | 'signal'>): AsyncGenerator<Finding> {
  for (let after = 0; ; ) {
    const rows = await db
      .selectFrom('lfs_objects')
      .innerJoin('lfs_objects_projects', 'lfs_objects_projects.lfs_object_id', 'lfs_objects.id')
      .innerJoin('projects', 'projects.id', 'lfs_objects_projects.project_id')
      .select(['lfs_objects.id', 'oid', 'size', 'projects.full_path'])
      .distinctOn('lfs_objects.id')
      .where('lfs_objects.id', '>', after)
      .orderBy('lfs_objects.id')
      .limit(rowsAtOnce)
      .execute();
    for (const { oid, size, full_path } of rows) {
      signal.throwIfAborted();
      const found = await blobs.stat(`lfs/${oid}`);
      if (!found)
        yield { sentence: `${full_path}: the LFS object ${oid} is missing. Push it again from a clone that has it.` };
      else if (found.size_bytes !== size)
        yield { sentence: `${full_path}: the LFS object ${oid} has ${found.size_bytes} bytes instead of ${size}.` };
    }
    if (rows.length < rowsAtOnce) return;
    after = rows.at(-1)!.id;
  }
}
