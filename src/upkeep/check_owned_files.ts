/** Compares rows that own a file with their files: each row has its file, and each file a row. */
import { sql } from 'kysely';
import type { BlobKey } from '../blobs/index.ts';
import type { CheckOptions, Finding } from './finding.ts';

/** Younger files may belong to an upload in progress. */
const abandoned_ms = 24 * 60 * 60_000;
const rowsAtOnce = 1000;

/** The kinds of blobs, each with the table that stores their keys, and the message for a lost file. */
const kinds = {
  source_maps: {
    table: 'error_tracking_source_maps',
    noun: 'source map',
    a: 'a',
    remedy: 'Restore it from a backup, or upload the source maps again.',
  },
  error_chunks: {
    table: 'error_tracking_chunks',
    noun: 'source map',
    a: 'a',
    remedy: 'Restore it from a backup, or upload the source maps again.',
  },
  dependency_exports: {
    table: 'dependency_list_exports',
    noun: 'export of dependencies',
    a: 'an',
    remedy: 'Export the dependencies again.',
  },
  relation_exports: {
    table: 'relation_export_files',
    noun: 'relation export',
    a: 'a',
    remedy: 'Export the relations again.',
  },
} as const;
type Kind = keyof typeof kinds;

/** Source maps, the chunks that they are unpacked from, exports of dependencies, and relation exports. */
export async function* checkOwnedFiles(options: CheckOptions): AsyncGenerator<Finding> {
  for (const kind of Object.keys(kinds) as Kind[]) {
    yield* checkRows(options, kind);
    yield* checkFiles(options, kind);
  }
}

async function* checkRows({ db, blobs, signal }: CheckOptions, kind: Kind): AsyncGenerator<Finding> {
  const { noun, a, remedy } = kinds[kind];
  for (let after = ''; ; ) {
    const { rows } = await sql<{ blob_key: BlobKey; size_bytes: number }>`
      select blob_key, size_bytes from ${sql.table(kinds[kind].table)} where blob_key > ${after} order by blob_key limit ${sql.lit(rowsAtOnce)}`.execute(
      db,
    );
    for (const { blob_key, size_bytes } of rows) {
      signal.throwIfAborted();
      const found = await blobs.stat(blob_key);
      const file = blobs.placeOf(blob_key);
      if (!found && (await hasRow(db, kind, blob_key)))
        yield { sentence: `The file ${file} of ${a} ${noun} is missing. ${remedy}` };
      else if (found && found.size_bytes !== size_bytes)
        yield { sentence: `The file ${file} of ${a} ${noun} has ${found.size_bytes} bytes instead of ${size_bytes}.` };
    }
    if (rows.length < rowsAtOnce) return;
    after = rows.at(-1)!.blob_key;
  }
}

/** It may have been deleted since it was read. */
async function hasRow(db: CheckOptions['db'], kind: Kind, blob_key: string): Promise<boolean> {
  const { rows } = await sql`select from ${sql.table(kinds[kind].table)} where blob_key = ${blob_key} limit 1`.execute(
    db,
  );
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
      sentence: `${blobs.placeOf(key)} belongs to no ${kinds[kind].noun}.`,
      repair: async () => `Moved to ${await blobs.setAside(key)}. Delete it when you are sure.`,
    };
  }
}
