/** Where metric images are stored. */
import type { StoredFiles } from '../../../../services/index.ts';

export const metricImageFiles: StoredFiles = {
  table: 'issue_metric_images',
  key: 'blob_key',
  kind: 'metric_images',
  from: 'issue_metric_images join issues on issues.id = issue_id',
  project_id: 'issues.project_id',
  size_bytes: 'size_bytes',
  are_uploads: true,
  check: { noun: 'a metric image', name: 'filename', remedy: 'Restore it from a backup.' },
};
