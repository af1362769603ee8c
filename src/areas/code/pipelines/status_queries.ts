/** The status of a commit, from the statuses of its newest pipeline. Statuses are read directly, because older ones may still wait for a job to assign them to pipelines. */
import { sql } from 'kysely';
import { type Database, dataLoader, ofAnyLength, type Slots, statement } from '../../../db/index.ts';
import { overallStatus, type State } from './rules.ts';

interface CommitName {
  project_id: number;
  sha: string;
  /** A pipeline of this ref comes before others. */
  ref: string | null;
}

const keyOf = ({ project_id, sha, ref }: CommitName) => JSON.stringify([project_id, sha, ref]);

const statusesOf = statement(
  ({
    projects,
    commits,
    refs,
  }: Slots<{ projects: readonly number[]; commits: readonly string[]; refs: readonly (string | null)[] }>) => sql<
    CommitName & { statuses: string[] }
  >`
    select asked.project_id, asked.sha, asked.ref, newest.statuses
      from unnest(${ofAnyLength(projects, 'bigint[]')}, ${ofAnyLength(commits, 'text[]')}, ${ofAnyLength(refs, 'text[]')}) asked(project_id, sha, ref),
           lateral (
             select array_agg(distinct status) filter (where not retried) as statuses from commit_statuses
              where commit_statuses.project_id = asked.project_id and commit_statuses.sha = asked.sha
              group by commit_statuses.ref
              order by commit_statuses.ref is not distinct from asked.ref desc, min(commit_statuses.id) desc limit 1) newest
     where newest.statuses is not null`,
);

const currentStatuses = dataLoader<CommitName, string[]>(keyOf, async (db, asked) => {
  const rows = await statusesOf(db, {
    projects: asked.map(({ project_id }) => project_id),
    commits: asked.map(({ sha }) => sha),
    refs: asked.map(({ ref }) => ref),
  });
  return new Map(rows.map((row) => [keyOf(row), row.statuses]));
});

/**
 * The status of the newest pipeline of a commit, null if none was reported.
 * @param ref a pipeline of this ref comes before others
 */
export const statusOfCommit = async (
  db: Database,
  project: { id: number },
  sha: string,
  ref: string | null = null,
): Promise<State | null> => overallStatus((await currentStatuses(db, { project_id: project.id, sha, ref })) ?? []);
