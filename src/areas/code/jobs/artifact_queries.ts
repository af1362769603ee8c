/** The files that jobs leave, as rows (docs/reference/job_artifacts.md). */
import { type RawBuilder, sql } from 'kysely';
import { momentInJson } from '../../../db/index.ts';
import type { StoredFiles } from '../../../services/index.ts';

/** A file of a job in its reply. */
export interface ListedArtifact {
  file_type: string;
  size: number;
  filename: string;
  file_format: string;
}

/** The files of each row of `commit_statuses`, and when they end. */
export const artifactsOfJob: RawBuilder<{ files: ListedArtifact[] | null; expire_at: string | null }> = sql`(
  select json_build_object(
           'files', json_agg(json_build_object('file_type', file_type, 'size', size_bytes, 'filename', filename, 'file_format', file_format) order by id),
           'expire_at', ${momentInJson(sql`min(expire_at)`)})
    from job_artifacts where job_id = commit_statuses.id)`;

export const jobArtifactFiles: StoredFiles = {
  table: 'job_artifacts',
  key: 'blob_key',
  kind: 'job_artifacts',
  project_id: 'job_artifacts.project_id',
  size_bytes: 'size_bytes',
  sha256: 'sha256',
  check: { noun: 'an artifact of a job', name: 'filename', remedy: 'Restore it from a backup, or run the job again.' },
};
