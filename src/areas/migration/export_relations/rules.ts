/** The names of exports and of their errors. Pure functions. */
import { GitError } from '../../../git/index.ts';
import { isFull } from '../../../http/index.ts';
import type { Relation } from './definition.ts';

/** The names of export errors in the API. */
type ErrorName = 'PermissionDenied' | 'RepositoryUnreadable' | 'StaleExport' | 'OutOfSpace' | 'InternalError';

/** The user may no longer export. A retry would not help. */
export class PermissionDenied extends Error {
  override name = 'PermissionDenied' as const;
}

/** A run has made no progress for hours. */
export class StaleExport extends Error {
  override name = 'StaleExport' as const;
}

/** The name under which the API shows an error; never its message, which may contain paths. */
export function errorName(error: unknown): ErrorName {
  if (error instanceof PermissionDenied || error instanceof StaleExport) return error.name;
  if (isFull(error)) return 'OutOfSpace';
  return error instanceof GitError ? 'RepositoryUnreadable' : 'InternalError';
}

const extensions = { tree: 'ndjson.gz', self: 'json.gz', archive: 'tar.gz' } as const;

export const fileName = ({ name, form }: Pick<Relation, 'name' | 'form'>): string => `${name}.${extensions[form]}`;
