/** Compares the rows that refer to blobs with their files: each row has its file, and each file a row. LFS objects have a check of their own. */
import { sql } from 'kysely';
import { areaServices } from '../areas/index.ts';
import type { BlobKey } from '../blobs/index.ts';
import { fromOf, type StoredFiles } from '../services/index.ts';
import { isIntact } from './blob_digest.ts';
import type { CheckOptions, Finding } from './finding.ts';

/** Younger files may belong to an upload in progress. */
const abandoned_ms = 24 * 60 * 60_000;
const rowsAtOnce = 1000;

type Checked = StoredFiles & Required<Pick<StoredFiles, 'check'>>;

/** Finds files, other than LFS objects, that are lost or damaged, and files that no row refers to. */
export async function* checkStoredFiles(options: CheckOptions): AsyncGenerator<Finding> {
  const checked = areaServices.stored_files.filter((files): files is Checked => files.check !== undefined);
  for (const files of checked) yield* checkRows(options, files);
  for (const [kind, tables] of Map.groupBy(checked, (files) => files.kind)) yield* checkFiles(options, kind, tables);
}

interface FileRow {
  key: BlobKey;
  size_bytes: number | null;
  sha256: string | null;
  /** What `check` calls the file, beside its noun. */
  name: string | null;
  /** The path of the project or group that it belongs to. */
  place: string | null;
}

/** A portion of the rows, by key. Copies that share a file are one. */
async function rowsAfter(db: CheckOptions['db'], files: Checked, after: string): Promise<FileRow[]> {
  const column = (name: string | undefined) => (name === undefined ? sql`null` : sql.ref(name));
  const key = sql.ref(files.key);
  const { rows } = await sql<FileRow>`
    select distinct on (${key}) ${key} as key, ${column(files.size_bytes)} as size_bytes, ${column(files.sha256)} as sha256,
           ${column(files.check.name)} as name,
           coalesce((select full_path from projects owning where owning.id = ${column(files.project_id)}),
                    (select full_path from namespaces owning where owning.id = ${column(files.group_id)}))::text as place
      from ${sql.raw(fromOf(files))} where ${key} > ${after} order by ${key} limit ${sql.lit(rowsAtOnce)}`.execute(db);
  return rows;
}

const bare = (noun: string) => noun.replace(/^an? /, '');

async function* checkRows({ db, blobs, signal }: CheckOptions, files: Checked): AsyncGenerator<Finding> {
  const { noun, remedy } = files.check;
  for (let after = ''; ; ) {
    const rows = await rowsAfter(db, files, after);
    for (const { key, size_bytes, sha256, name, place } of rows) {
      signal.throwIfAborted();
      const found = await blobs.stat(key);
      const file = `file ${blobs.placeOf(key)} of ${name === null ? noun : `the ${bare(noun)} ${name}`}`;
      const subject = place === null ? `The ${file}` : `${place}: the ${file}`;
      if (!found) {
        if (await hasRow(db, [files], key)) yield { sentence: `${subject} is missing. ${remedy}` };
      } else if (size_bytes !== null && found.size_bytes !== size_bytes)
        yield { sentence: `${subject} has ${found.size_bytes} bytes instead of ${size_bytes}.` };
      else if (sha256 !== null && !(await isIntact(blobs, key, sha256, signal)))
        yield { sentence: `${subject} is damaged: its content has changed.` };
    }
    if (rows.length < rowsAtOnce) return;
    after = rows.at(-1)!.key;
  }
}

/** Whether a row of one of the tables refers to a blob: it may have been deleted since it was read. */
async function hasRow(db: CheckOptions['db'], tables: readonly Checked[], key: string): Promise<boolean> {
  const selects = tables.map(
    (files) => sql`select from ${sql.table(files.table)} where ${sql.ref(files.key)} = ${key}`,
  );
  const { rows } = await sql`${sql.join(selects, sql` union all `)} limit 1`.execute(db);
  return rows.length > 0;
}

async function* checkFiles(
  { db, blobs, signal }: CheckOptions,
  kind: string,
  tables: readonly Checked[],
): AsyncGenerator<Finding> {
  for await (const key of blobs.keys(kind)) {
    signal.throwIfAborted();
    const found = await blobs.stat(key);
    if (!found || Date.now() - found.changed_at_ms < abandoned_ms) continue;
    const unused = await db.selectFrom('unused_blobs').select('key').where('key', '=', key).executeTakeFirst();
    if (unused || (await hasRow(db, tables, key))) continue;
    yield {
      sentence: `${blobs.placeOf(key)} belongs to no ${bare(tables[0]!.check.noun)}.`,
      repair: async () => `Moved to ${await blobs.setAside(key)}. Delete it when you are sure.`,
    };
  }
}
