/** Exports of dependencies; a job writes the file (docs/reference/dependencies.md#exports). */
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { BlobMismatch, newBlobKey, type ReceivedBlob } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { storeBlob, useBlob } from '../../instance/blobs/index.ts';
import { type ExportType, writerOf } from './export_present.ts';
import { exportedDependencies } from './export_queries.ts';

/** Larger exports fail. A hundred thousand dependencies take about 50 MiB. */
const largest_bytes = 1024 ** 3;

type Writing = Pick<JobServices, 'db' | 'blobs' | 'url'>;

/** The export, if its file has not been written yet. */
const beginExport = (db: Database, id: number) =>
  db
    .updateTable('dependency_list_exports')
    .set({ status: 'running' })
    .from('projects')
    .whereRef('projects.id', '=', 'project_id')
    .where('dependency_list_exports.id', '=', id)
    .where('status', 'in', ['created', 'running'])
    .returning(['project_id', 'export_type', 'with_vulnerabilities', 'projects.name', 'projects.full_path'])
    .executeTakeFirst();

type Begun = NonNullable<Awaited<ReturnType<typeof beginExport>>>;

async function* bytesOf(texts: AsyncIterable<string>, signal: AbortSignal): AsyncGenerator<Buffer> {
  for await (const text of texts) {
    signal.throwIfAborted();
    yield Buffer.from(text);
  }
}

/**
 * The file of an export. All rows come from one snapshot, although they are read several times.
 * @throws BlobMismatch if it is too large
 */
function fileOf({ db, blobs, url }: Writing, begun: Begun, signal: AbortSignal): Promise<ReceivedBlob> {
  const { project_id, export_type, with_vulnerabilities, name, full_path } = begun;
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute((tx) => {
      const rows = () => exportedDependencies(tx, project_id, with_vulnerabilities);
      const project = { id: project_id, name, full_path };
      const texts = writerOf(export_type as ExportType).write({
        project,
        url,
        at: new Date(),
        with_vulnerabilities,
        rows,
      });
      const key = newBlobKey('dependency_exports');
      return blobs.receive(key, Readable.from(bytesOf(texts, signal)), { at_most_bytes: largest_bytes });
    });
}

const failExport = (db: Database, id: number) =>
  db.updateTable('dependency_list_exports').set({ status: 'failed' }).where('id', '=', id).execute();

/** Writes the file of an export. */
export const writeDependencyExport = job('write_dependency_export', {
  input: { export_id: Id },
  retries: 5,
  run: async ({ db, blobs, url, signal, log, input: { export_id } }) => {
    const begun = await beginExport(db, export_id);
    if (!begun) return;
    try {
      const received = await fileOf({ db, blobs, url }, begun, signal);
      const blob_key = await storeBlob(db, received);
      await db.transaction().execute(async (tx) => {
        const finished = await tx
          .updateTable('dependency_list_exports')
          .set({ status: 'finished', blob_key, size_bytes: received.size_bytes })
          .where('id', '=', export_id)
          .where('status', '=', 'running')
          .returning('id')
          .executeTakeFirst();
        if (finished) await useBlob(tx, blob_key);
      });
    } catch (error) {
      if (!(error instanceof BlobMismatch)) throw error;
      log.info({ export_id }, 'an export of dependencies is too large');
      await failExport(db, export_id);
    }
  },
});

interface NewExport {
  project_id: number;
  user_id: number;
  export_type: ExportType;
  with_vulnerabilities: boolean;
}

/** Adds an export; a job writes its file. */
export const addExport = (db: Database, row: NewExport) =>
  db.transaction().execute(async (tx) => {
    const added = await tx
      .insertInto('dependency_list_exports')
      .values(row)
      .returning(['id', 'status', 'expires_at'])
      .executeTakeFirstOrThrow();
    await writeDependencyExport.enqueue(tx, { export_id: added.id });
    return added;
  });

/** Removes expired exports, and marks those as failed whose job failed repeatedly. */
export async function tidyExports(db: Database): Promise<void> {
  await sql`delete from dependency_list_exports where expires_at < now()`.execute(db);
  await sql`
    update dependency_list_exports set status = 'failed'
     where status in ('created', 'running') and created_at < now() - interval '1 hour'`.execute(db);
}
