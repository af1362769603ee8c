/** The status of a commit: the status of its newest pipeline that is no child of another. */
import { sql } from 'kysely';
import { type Database, dataLoader, ofAnyLength, type Slots, statement } from '../../../db/index.ts';
import type { State } from './rules.ts';

interface CommitName {
  project_id: number;
  sha: string;
  /** A pipeline of this ref comes before others, and one of a merge request before it. */
  ref: string | null;
}

const keyOf = ({ project_id, sha, ref }: CommitName) => JSON.stringify([project_id, sha, ref]);

const statusesOf = statement(
  ({
    projects,
    commits,
    refs,
  }: Slots<{ projects: readonly number[]; commits: readonly string[]; refs: readonly (string | null)[] }>) => sql<
    CommitName & { status: State }
  >`
    select asked.project_id, asked.sha, asked.ref, newest.status
      from unnest(${ofAnyLength(projects, 'bigint[]')}, ${ofAnyLength(commits, 'text[]')}, ${ofAnyLength(refs, 'text[]')}) asked(project_id, sha, ref),
           lateral (
             select status from pipelines
              where pipelines.project_id = asked.project_id and pipelines.sha = asked.sha and pipelines.source <> 'parent_pipeline'
              order by (asked.ref is not null and pipelines.source = 'merge_request_event') desc, pipelines.ref is not distinct from asked.ref desc, pipelines.id desc limit 1) newest`,
);

const currentStatus = dataLoader<CommitName, State>(keyOf, async (db, asked) => {
  const rows = await statusesOf(db, {
    projects: asked.map(({ project_id }) => project_id),
    commits: asked.map(({ sha }) => sha),
    refs: asked.map(({ ref }) => ref),
  });
  return new Map(rows.map((row) => [keyOf(row), row.status]));
});

/**
 * The status of the newest pipeline of a commit, null if none was reported.
 * @param ref a pipeline of this ref comes before others, and one of a merge request before it
 */
export const statusOfCommit = async (
  db: Database,
  project: { id: number },
  sha: string,
  ref: string | null = null,
): Promise<State | null> => (await currentStatus(db, { project_id: project.id, sha, ref })) ?? null;
