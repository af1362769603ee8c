/** Queries for the dependencies in exports, and where these are stored. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { StoredFiles } from '../../../services/index.ts';
import { type FoundVulnerability, vulnerabilitiesOfDependency } from '../vulnerabilities/queries.ts';
import { knownLicenses } from './present.ts';

export interface ExportedDependency {
  id: number;
  name: string;
  version: string;
  package_manager: string;
  path: string;
  development: boolean;
  licenses: string[];
  /** Empty for readers who may not see vulnerabilities. */
  vulnerabilities: FoundVulnerability[];
}

const portion = 1_000;

/** All dependencies of a project by id, in batches, to bound the memory used. */
export async function* exportedDependencies(
  db: Database,
  project_id: number,
  with_vulnerabilities: boolean,
): AsyncGenerator<ExportedDependency[]> {
  const vulnerabilities = with_vulnerabilities ? vulnerabilitiesOfDependency : sql<FoundVulnerability[]>`'[]'::json`;
  for (let after = 0; ; ) {
    const rows = await db
      .selectFrom('dependencies')
      .select([
        'id',
        'name',
        'version',
        'package_manager',
        'path',
        'development',
        knownLicenses,
        vulnerabilities.as('vulnerabilities'),
      ])
      .where('project_id', '=', project_id)
      .where('id', '>', after)
      .orderBy('id')
      .limit(portion)
      .execute();
    if (rows.length > 0) yield rows;
    if (rows.length < portion) return;
    after = rows.at(-1)!.id;
  }
}

export const dependencyExportFiles: StoredFiles = {
  table: 'dependency_list_exports',
  key: 'blob_key',
  kind: 'dependency_exports',
  project_id: 'dependency_list_exports.project_id',
  size_bytes: 'size_bytes',
  check: { noun: 'an export of dependencies', remedy: 'Export the dependencies again.' },
};
