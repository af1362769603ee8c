/** Bills of materials and findings that jobs leave (docs/reference/dependencies.md#reports-of-jobs). */
import { type Database, isAmong } from '../../../db/index.ts';
import { TooMuchWaiting } from '../../../foundation/fair_threads.ts';
import { Unreadable } from '../../../lockfiles/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { type FoundByJob, removeFindingsOf, replaceFindings } from '../vulnerabilities/finding_actions.ts';
import { matchPackages } from '../vulnerabilities/match_actions.ts';
import { refreshVulnerabilities } from '../vulnerabilities/refresh_actions.ts';
import { storeFile, withPackages } from './file_actions.ts';
import { readOnce } from './reading_actions.ts';

/** A bill of materials of a job. */
export interface Report {
  job_id: number;
  /** As it is listed: different for each report of a project. */
  path: string;
  /** Identifies the content. */
  digest: string;
  bytes: Uint8Array;
}

/**
 * Stores a report, whose faults are shown with it.
 * @throws TooMuchWaiting, and the reason of the signal
 */
async function storeReport(
  { db, signal }: { db: Database; signal: AbortSignal },
  project_id: number,
  { job_id, path, digest, bytes }: Report,
): Promise<void> {
  const work = { owner: project_id, content: `document ${digest}`, signal };
  const file = { project_id, path, blob_id: null, manager: null, job_id };
  try {
    const outcome = await readOnce(db, path, bytes, work, { is_document: true });
    await withPackages(db, outcome, () => db.transaction().execute((tx) => storeFile(tx, { ...file, outcome })));
  } catch (error) {
    if (error instanceof TooMuchWaiting || !(error instanceof Unreadable)) throw error;
    await db.transaction().execute((tx) => storeFile(tx, { ...file, outcome: error }));
  }
}

/**
 * Replaces the bills of materials and findings that jobs of a project have left.
 * @param reports of its newest pipeline, one after the other
 */
export async function replaceReports(
  { db, signal }: Pick<JobServices, 'db'> & { signal: AbortSignal },
  project_id: number,
  reports: AsyncIterable<Report | FoundByJob>,
): Promise<void> {
  const paths: string[] = [];
  const found: FoundByJob[] = [];
  for await (const report of reports) {
    if ('findings' in report) {
      found.push(report);
      continue;
    }
    await storeReport({ db, signal }, project_id, report);
    paths.push(report.path);
  }
  await matchPackages(db);
  await db.transaction().execute(async (tx) => {
    const others = tx
      .deleteFrom('dependency_files')
      .where('project_id', '=', project_id)
      .where('job_id', 'is not', null);
    await others.where((q) => q.not(isAmong('path', paths, 'text[]'))).execute();
    await replaceFindings(tx, project_id, found);
    await refreshVulnerabilities(tx, [project_id]);
  });
}

/**
 * Removes the bills of materials and findings of jobs that are erased.
 * @param tx the transaction that erases them
 */
export async function removeReportsOf(tx: Database, job_ids: readonly number[]): Promise<void> {
  const gone = await tx
    .deleteFrom('dependency_files')
    .where(isAmong('job_id', job_ids, 'bigint[]'))
    .returning('project_id')
    .execute();
  const ids = new Set([...gone.map(({ project_id }) => project_id), ...(await removeFindingsOf(tx, job_ids))]);
  if (ids.size > 0) await refreshVulnerabilities(tx, [...ids]);
}
