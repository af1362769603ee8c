/** How much waits in the sections of a project, beside their names. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { cacheOf } from '../../../foundation/caches.ts';

export interface SectionCounts {
  /** Open issues that are not confidential. */
  issues: number;
  merge_requests: number;
  /** Unresolved errors. */
  errors: number;
}

/** More than these are not counted. */
const most = 1000;

/** Pages of a project follow one another, and their counts may be some seconds old. */
const known = cacheOf<string, Promise<SectionCounts | undefined>>(5000, { ttl: 10_000 });

/** @returns undefined if there is no such project */
async function readCounts(db: Database, full_path: string): Promise<SectionCounts | undefined> {
  const { rows } = await sql<SectionCounts>`
    select (select coalesce(sum(opened - confidential), 0)::integer from open_issue_counts where project_id = projects.id) as issues,
           (select count(*)::integer from (
              select from merge_requests where project_id = projects.id and state in ('opened', 'locked') limit ${sql.lit(most)}) open) as merge_requests,
           (select count(*)::integer from (
              select from error_tracking_errors where project_id = projects.id and status = 'unresolved' limit ${sql.lit(most)}) open) as errors
      from projects where full_path = ${full_path}::citext`.execute(db);
  return rows[0];
}

/** The counts of a project, at most ten seconds old. @param full_path of a project that the caller may see */
export function sectionCounts(db: Database, full_path: string): Promise<SectionCounts | undefined> {
  const key = full_path.toLowerCase();
  const found = known.get(key);
  if (found) return found;
  const asked = readCounts(db, full_path);
  known.set(key, asked);
  asked.catch(() => known.delete(key));
  return asked;
}

/** A count as it is shown: none is not shown, and many are not exact. */
export const countInWords = (count: number): string | undefined =>
  count === 0 ? undefined : count >= most ? '999+' : String(count);
