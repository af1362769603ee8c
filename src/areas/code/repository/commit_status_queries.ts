/** The combined status of a commit. */
import type { Database } from '../../../db/index.ts';

/**
 * Combines several statuses into one.
 * @param statuses the current ones; none gives null
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

/** The combined status of a commit, null when none has been reported. */
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
