/** Compares uploads with their files: each has the size and checksum that was stored, and each file has a row. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { blobFiles, digestOf, placeOfBlob } from './blob_files.ts';
import type { CheckOptions, Finding } from './finding.ts';
import { setAside } from './set_aside.ts';

/** Younger files may belong to an upload in progress. */
const abandoned_ms = 24 * 60 * 60_000;
const rowsAtOnce = 1000;

export async function* checkUploads({ db, blobs, signal }: CheckOptions): AsyncGenerator<Finding> {
  for (let after = ''; ; ) {
    const { rows } = await sql<{ blob_key: string; size_bytes: number; sha256: string; place: string; filename: string }>`
      select distinct on (blob_key) blob_key, size_bytes, sha256, filename, coalesce(projects.full_path, namespaces.full_path)::text as place
        from uploads left join projects on projects.id = project_id left join namespaces on namespaces.id = group_id
       where blob_key > ${after} order by blob_key, uploads.id limit ${sql.lit(rowsAtOnce)}`.execute(db);
    for (const { blob_key, size_bytes, sha256, place, filename } of rows) {
      signal.throwIfAborted();
      const file = path.join(blobs, placeOfBlob(blob_key));
      const found = await stat(file).catch(() => undefined);
      const isThere = found || !(await hasRow(db, blob_key));
      if (!isThere)
        yield { sentence: `${place}: the file ${file} of the upload ${filename} is missing. Restore it from a backup.` };
      else if (found && (found.size !== size_bytes || (await digestOf(file, signal)) !== sha256))
        yield { sentence: `${place}: the file ${file} of the upload ${filename} is damaged: its content has changed.` };
    }
    if (rows.length < rowsAtOnce) break;
    after = rows.at(-1)!.blob_key;
  }
  yield* checkFiles({ db, blobs, signal });
}

/** It may have been deleted since it was read. */
async function hasRow(db: CheckOptions['db'], blob_key: string): Promise<boolean> {
  return (await db.selectFrom('uploads').select('id').where('blob_key', '=', blob_key).limit(1).executeTakeFirst()) !== undefined;
}

async function* checkFiles({ db, blobs, signal }: Pick<CheckOptions, 'db' | 'blobs' | 'signal'>): AsyncGenerator<Finding> {
  for await (const name of blobFiles(blobs, 'uploads')) {
    signal.throwIfAborted();
    const file = path.join(blobs, name);
    const found = await stat(file).catch(() => undefined);
    if (!found || Date.now() - found.mtimeMs < abandoned_ms) continue;
    const key = `uploads/${path.basename(name)}`;
    const unused = await db.selectFrom('unused_blobs').select('key').where('key', '=', key).executeTakeFirst();
    if (unused || (await hasRow(db, key))) continue;
    yield {
      sentence: `${file} belongs to no upload.`,
      repair: async () => `Moved to ${await setAside(blobs, file)}. Delete it when you are sure.`,
    };
  }
}
