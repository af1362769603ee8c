/** Queries for the results of tests. */
import { sql } from 'kysely';
import { levels, type Project } from '../../../access/index.ts';
import type { BlobKey } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Summary } from '../../../test_reports/index.ts';
import { isThere } from './queries.ts';

/** The results of the tests of a job. */
export interface Suite extends Summary {
  job_id: number;
  name: string;
  blob_key: BlobKey;
  suite_error: string | null;
}

/** The results of the current jobs of a pipeline whose reports the caller may read. */
export async function suitesOf(db: Database, project: Project, pipeline_id: number): Promise<Suite[]> {
  const isOpen = project.access_level >= levels.developer ? sql`true` : sql`accessibility = 'all'`;
  const { rows } = await sql<Suite>`
    select commit_statuses.id as job_id, commit_statuses.name, blob_key, success, failed, skipped, error, total_time, suite_error
      from commit_statuses
      join job_artifacts on job_artifacts.job_id = commit_statuses.id and file_type = 'junit'
      join job_test_suites on artifact_id = job_artifacts.id
     where commit_statuses.pipeline_id = ${pipeline_id} and not commit_statuses.retried and ${isOpen} and ${isThere}
     order by commit_statuses.id`.execute(db);
  return rows;
}
