/** Compares uploads with their files: each has the size and checksum that was stored, and each file has a row. */
import { sql } from 'kysely';
import type { BlobKey } from '../blobs/index.ts';
import { isIntact } from './blob_digest.ts';
import type { CheckOptions, Finding } from './finding.ts';

/** Younger files may belong to an upload in progress. */
const abandoned_ms = 24 * 60 * 60_000;
const rowsAtOnce = 1000;

export async function* checkUploads({ db, blobs, signal }: CheckOptions): AsyncGenerator<Finding> {
  for (let after = ''; ; ) {
    const { rows } = await sql<{
      blob_key: BlobKey;
      size_bytes: number;
      sha256: string;
      place: string;
      filename: string;
    }>`
      select distinct on (blob_key) blob_key, size_bytes, sha256, filename, coalesce(projects.full_path, namespaces.full_path)::text as place
        from uploads left join projects on projects.id = project_id left join namespaces on namespaces.id = group_id
       where blob_key > ${after} order by blob_key, uploads.id limit ${sql.lit(rowsAtOnce)}`.execute(db);
    for (const { blob_key, size_bytes, sha256, place, filename } of rows) {
      signal.throwIfAborted();
      const file = blobs.placeOf(blob_key);
      const found = await blobs.stat(blob_key);
      const isThere = found || !(await hasRow(db, blob_key));
      if (!isThere)
        yield {
          sentence: `${place}: the file ${file} of the upload ${filename} is missing. Restore it from a backup.`,
        };
      else if (found && (found.size_bytes !== size_bytes || !(await isIntact(blobs, blob_key, sha256, signal))))
        yield { sentence: `${place}: the file ${file} of the upload ${filename} is damaged: its content has changed.` };
    }
    if (rows.length < rowsAtOnce) break;
    after = rows.at(-1)!.blob_key;
  }
  yield* checkFiles({ db, blobs, signal });
}

/** It may have been deleted since it was read. */
async function hasRow(db: CheckOptions['db'], blob_key: string): Promise<boolean> {
  return (
    (await db.selectFrom('uploads').select('id').where('blob_key', '=', blob_key).limit(1).executeTakeFirst()) !==
    undefined
  );
}

async function* checkFiles({
  db,
  blobs,
  signal,
}: Pick<CheckOptions, 'db' | 'blobs' | 'signal'>): AsyncGenerator<Finding> {
  for await (const key of blobs.keys('uploads')) {
    signal.throwIfAborted();
    const found = await blobs.stat(key);
    if (!found || Date.now() - found.changed_at_ms < abandoned_ms) continue;
    const unused = await db.selectFrom('unused_blobs').select('key').where('key', '=', key).executeTakeFirst();
    if (unused || (await hasRow(db, key))) continue;
    yield {
      sentence: `${blobs.placeOf(key)} belongs to no upload.`,
      repair: async () => `Moved to ${await blobs.setAside(key)}. Delete it when you are sure.`,
    };
  }
}
