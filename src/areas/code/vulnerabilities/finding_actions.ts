/** What reports of jobs found (docs/reference/vulnerabilities.md#reports-of-jobs). */
import { sql } from 'kysely';
import { type Database, isAmong } from '../../../db/index.ts';
import type { Finding } from '../../../security_reports/index.ts';

/** The findings of one report. */
export interface FoundByJob {
  job_id: number;
  report_type: string;
  findings: readonly Finding[];
}

/**
 * Replaces what the jobs of a project have found. The vulnerabilities are to be refreshed afterwards.
 * @param tx the transaction that replaces what the jobs have left
 */
export async function replaceFindings(tx: Database, project_id: number, found: readonly FoundByJob[]): Promise<void> {
  await tx.deleteFrom('vulnerability_findings').where('project_id', '=', project_id).execute();
  for (const { job_id, report_type, findings } of found)
    await sql`
      insert into vulnerability_findings (project_id, job_id, report_type, cluster, name, severity, description, solution, location, identifiers, links, package_name, package_version)
      select ${project_id}, ${job_id}, ${report_type}, cluster, name, severity, description, solution, location, identifiers, links, package_name, package_version
        from jsonb_to_recordset(${JSON.stringify(findings)}::jsonb)
             found(cluster text, name text, severity smallint, description text, solution text, location jsonb, identifiers jsonb, links text[], package_name text, package_version text)`.execute(
      tx,
    );
}

/**
 * Removes what jobs have found.
 * @returns the projects whose vulnerabilities are to be refreshed
 */
export async function removeFindingsOf(tx: Database, job_ids: readonly number[]): Promise<number[]> {
  const gone = tx.deleteFrom('vulnerability_findings').where(isAmong('job_id', job_ids, 'bigint[]'));
  const rows = await gone.returning('project_id').execute();
  return rows.map(({ project_id }) => project_id);
}
