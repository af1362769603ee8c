/** The combined status of a commit. */
import { sql } from 'kysely';
import { type Database, dataLoader, ofAnyLength, type Slots, statement } from '../../../../db/index.ts';

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

interface CommitName {
  project_id: number;
  sha: string;
}

const keyOf = ({ project_id, sha }: CommitName) => `${project_id} ${sha}`;

const statusesOf = statement(
  ({ projects, commits }: Slots<{ projects: readonly number[]; commits: readonly string[] }>) => sql<
    CommitName & { statuses: string[] }
  >`
    select asked.project_id, asked.sha, array_agg(distinct status) as statuses
      from unnest(${ofAnyLength(projects, 'bigint[]')}, ${ofAnyLength(commits, 'text[]')}) asked(project_id, sha)
           join commit_statuses on commit_statuses.project_id = asked.project_id and commit_statuses.sha = asked.sha and not retried
     group by asked.project_id, asked.sha`,
);

const currentStatuses = dataLoader<CommitName, string[]>(keyOf, async (db, asked) => {
  const projects = asked.map(({ project_id }) => project_id);
  const commits = asked.map(({ sha }) => sha);
  const rows = await statusesOf(db, { projects, commits });
  return new Map(rows.map((row) => [keyOf(row), row.statuses]));
});

/** The combined status of a commit, null when none has been reported. */
export const statusOfCommit = async (db: Database, project: { id: number }, sha: string): Promise<string | null> =>
  overallStatus((await currentStatuses(db, { project_id: project.id, sha })) ?? []);
