/** Exports of a user, and their files. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { BlobKey } from '../../../blobs/index.ts';
import { type Database, momentInJson } from '../../../db/index.ts';
import type { StoredFiles } from '../../../services/index.ts';
import type { ExportOwner, State } from './definition.ts';

/** How long exports can be downloaded after they have ended. */
const kept = sql`interval '24 hours'`;

const hasExpired = sql<SqlBool>`(relation_exports.status <> 0 and relation_exports.updated_at < now() - ${kept})`;

/**
 * Deletes exports that can no longer be downloaded, except those that another transaction has locked to restart or
 * delete them.
 */
export async function removeExpired(db: Database): Promise<void> {
  const expired = db.selectFrom('relation_exports').select('id').where(hasExpired).forUpdate().skipLocked();
  await db.deleteFrom('relation_exports').where('id', 'in', expired).execute();
}

/** A user's exports of a project or group that can be downloaded. */
const exportsOf = (db: Database, user_id: number, { kind, id }: ExportOwner) =>
  db
    .selectFrom('relation_exports')
    .where('user_id', '=', user_id)
    .where(`${kind}_id`, '=', id)
    .where(sql<boolean>`not ${hasExpired}`);

export interface BatchStatus {
  batch_number: number;
  status: State;
  objects_count: number;
  error: string | null;
  updated_at: string;
}

export interface ExportStatus {
  relation: string;
  status: State;
  error: string | null;
  updated_at: string;
  batched: boolean;
  batches_count: number;
  total_objects_count: number;
  /** Null if it is not batched. */
  batches: BatchStatus[] | null;
}

/** Batches of an earlier export are hidden while the new ones are being listed. */
const batches: RawBuilder<BatchStatus[] | null> = sql`
  case when batched then coalesce((
    select json_agg(json_build_object('batch_number', batch_number, 'status', files.status, 'objects_count', objects_count,
                                      'error', files.error, 'updated_at', ${momentInJson('files.updated_at')}) order by batch_number)
      from relation_export_files files
     where export_id = relation_exports.id and batch_number between 1 and batches_count), '[]'::json) end`;

/** The states of a user's exports, in the order of the relations; optionally of one relation only. */
export const exportStatuses = (
  db: Database,
  user_id: number,
  owner: ExportOwner,
  relation?: string,
): Promise<ExportStatus[]> =>
  exportsOf(db, user_id, owner)
    .$if(relation !== undefined, (query) => query.where('relation', '=', relation!))
    .select(['relation', 'status', 'error', 'updated_at', 'batched', 'batches_count', 'total_objects_count'])
    .select(batches.as('batches'))
    .orderBy('id')
    .$castTo<ExportStatus>()
    .execute();

/** The export of one relation. */
export const exportNamed = (db: Database, user_id: number, owner: ExportOwner, relation: string) =>
  exportsOf(db, user_id, owner)
    .select(['id', 'status', 'batched', 'batches_count'])
    .where('relation', '=', relation)
    .executeTakeFirst();

export interface ExportFile {
  status: State;
  /** Null before the first complete file. */
  blob_key: BlobKey | null;
  size_bytes: number | null;
  sha256: string | null;
}

/** @param batch_number 0 for the file of the whole relation */
export const exportFile = (db: Database, export_id: number, batch_number: number): Promise<ExportFile | undefined> =>
  db
    .selectFrom('relation_export_files')
    .select(['status', 'blob_key', 'size_bytes', 'sha256'])
    .where('export_id', '=', export_id)
    .where('batch_number', '=', batch_number)
    .$castTo<ExportFile>()
    .executeTakeFirst();

/**
 * The columns of a file that will be written again. The run number changes, so that a run of the earlier export that is
 * still active loses the file.
 */
export const waitsAgain = sql`status = 0, error = null, objects_count = 0, failures = 0, due_at = now(), slot = null, run = files.run + 1,
  heard_at = null, updated_at = now()`;

export const relationExportFiles: StoredFiles = {
  table: 'relation_export_files',
  key: 'blob_key',
  kind: 'relation_exports',
  from: 'relation_export_files join relation_exports on relation_exports.id = export_id',
  project_id: 'relation_exports.project_id',
  group_id: 'relation_exports.group_id',
  size_bytes: 'size_bytes',
  sha256: 'sha256',
  check: { noun: 'a relation export', remedy: 'Export the relations again.' },
};
