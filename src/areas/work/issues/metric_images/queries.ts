/** The storage used by metric images. */
import { sql } from 'kysely';
import type { StoredFiles } from '../../../../services/index.ts';

export const metricImageFiles: StoredFiles = (project_id) =>
  sql`select size_bytes from issues join issue_metric_images on issue_id = issues.id where issues.project_id = ${project_id}`;
