/** Where source maps, and the chunks that they are unpacked from, are stored. */
import type { StoredFiles } from '../../../../services/index.ts';

const check = { noun: 'a source map', remedy: 'Restore it from a backup, or upload the source maps again.' };

export const sourceMapFiles: StoredFiles = {
  table: 'error_tracking_source_maps',
  key: 'blob_key',
  kind: 'source_maps',
  project_id: 'error_tracking_source_maps.project_id',
  size_bytes: 'size_bytes',
  check,
};

/** Only the user who uploads a chunk reads it. */
export const chunkFiles: StoredFiles = {
  table: 'error_tracking_chunks',
  key: 'blob_key',
  kind: 'error_chunks',
  size_bytes: 'size_bytes',
  check,
};
