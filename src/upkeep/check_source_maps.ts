/** Compares source maps, and the chunks that they are unpacked from, with their files: each row has its file, and each file a row. */
import { sql } from 'kysely';
import type { BlobKey } from '../blobs/index.ts';
import type { CheckOptions, Finding } from './finding.ts';

/** Younger files may belong to an upload in progress. */
const abandoned_ms = 24 * 60 * 60_000;
const rowsAtOnce = 1000;

/** The kinds of blobs with the tables that have their keys. */
const tables = { source_maps: 'error_tracking_source_maps', error_chunks: 'error_tracking_chunks' } as const;
type Kind = keyof typeof tables;

export async function* checkSourceMaps(options: CheckOptions): AsyncGenerator<Finding> {
  for (const kind of Object.keys(tables) as Kind[]) {
    yield* checkRows(options, kind);
    yield* checkFiles(options, kind);
  }
}

async function* checkRows({ db, blobs, signal }: CheckOptions, kind: Kind): AsyncGenerator<Finding> {
  for (let after = ''; ; ) {
    const { rows } = await sql<{ blob_key: BlobKey; size_bytes: number }>`
      select blob_key, size_bytes from ${sql.table(tables[kind])} where blob_key > ${after} order by blob_key limit ${sql.lit(rowsAtOnce)}`.execute(
      db,
    );
    for (const { blob_key, size_bytes } of rows) {
      signal.throwIfAborted();
      const found = await blobs.stat(blob_key);
      const file = blobs.placeOf(blob_key);
      if (!found && (await hasRow(db, kind, blob_key)))
        yield {
          sentence: `The file ${file} of a source map is missing. Restore it from a backup, or upload the source maps again.`,
        };
      else if (found && found.size_bytes !== size_bytes)
        yield { sentence: `The file ${file} of a source map has ${found.size_bytes} bytes instead of ${size_bytes}.` };
    }
    if (rows.length < rowsAtOnce) return;
    after = rows.at(-1)!.blob_key;
  }
}

/** It may have been deleted since it was read. */
async function hasRow(db: CheckOptions['db'], kind: Kind, blob_key: string): Promise<boolean> {
  const { rows } = await sql`select from ${sql.table(tables[kind])} where blob_key = ${blob_key} limit 1`.execute(db);
  return rows.length > 0;
}

async function* checkFiles({ db, blobs, signal }: CheckOptions, kind: Kind): AsyncGenerator<Finding> {
  for await (const key of blobs.keys(kind)) {
    signal.throwIfAborted();
    const found = await blobs.stat(key);
    if (!found || Date.now() - found.changed_at_ms < abandoned_ms) continue;
    const unused = await db.selectFrom('unused_blobs').select('key').where('key', '=', key).executeTakeFirst();
    if (unused || (await hasRow(db, kind, key))) continue;
    yield {
      sentence: `${blobs.placeOf(key)} belongs to no source map.`,
      repair: async () => `Moved to ${await blobs.setAside(key)}. Delete it when you are sure.`,
    };
  }
}
