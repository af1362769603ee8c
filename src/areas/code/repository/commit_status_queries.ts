/** What all reports on a commit say together. */
import type { Database } from '../../../db/index.ts';

/**
 * The one word for several reports.
 * @param statuses those in force; none gives null
 */
export function overallStatus(statuses: readonly string[]): string | null {
  const has = (status: string) => statuses.includes(status);
  const only = (...allowed: string[]) => statuses.every((status) => allowed.includes(status));
  if (statuses.length === 0) return null;
  if (only('skipped')) return 'skipped';
  if (only('success', 'skipped')) return 'success';
  if (only('canceled', 'success', 'skipped')) return 'canceled';
  if (only('pending', 'skipped')) return 'pending';
  return has('running') || has('pending') ? 'running' : 'failed';
}

/** The status of a commit, null when nobody has reported one. */
export async function statusOfCommit(db: Database, project: { id: number }, sha: string): Promise<string | null> {
  const rows = await db
    .selectFrom('commit_statuses')
    .select('status')
    .distinct()
    .where('project_id', '=', project.id)
    .where('sha', '=', sha)
    .where('retried', '=', false)
    .execute();
  return overallStatus(rows.map(({ status }) => status));
}
