/** Assigns statuses that have no pipeline, or were imported from another server, to pipelines, and updates these pipelines. */
import { sql } from 'kysely';
import { type Database, nextIids } from '../../../db/index.ts';
import { isFinal, ofReports } from './rules.ts';

interface Group {
  sha: string;
  ref: string;
  first_id: number;
  pipeline_id: number | null;
  /** Whether statuses were written without a pipeline. */
  has_new: boolean;
  statuses: string[] | null;
  user_id: number | null;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  finished_at: string | null;
}

/** The pipelines that the statuses of these commits require. */
async function groupsOf(tx: Database, project_id: number, shas: readonly string[]): Promise<Group[]> {
  const { rows } = await sql<Group>`
    select status.sha, status.ref, min(status.id) as first_id, max(pipelines.id) as pipeline_id,
           bool_or(status.pipeline_id is null) as has_new,
           array_agg(distinct status.status) filter (where not status.retried) as statuses,
           (array_agg(status.user_id order by status.id))[1] as user_id, min(status.created_at) as created_at,
           greatest(max(status.created_at), max(status.started_at), max(status.finished_at)) as updated_at, min(status.started_at) as started_at,
           max(status.finished_at) as finished_at
      from commit_statuses status
           left join pipelines on pipelines.project_id = status.project_id and pipelines.sha = status.sha and pipelines.ref = status.ref
                and pipelines.source = 'external'
     where status.kind = 'status' and status.project_id = ${project_id} and status.sha = any(${shas}::text[])
     group by status.sha, status.ref order by min(status.id)`.execute(tx);
  return rows;
}

const rowOf = (group: Group) => {
  const status = ofReports(group.statuses ?? []) ?? 'skipped';
  return { ...group, status, finished_at: isFinal(status) ? (group.finished_at ?? group.updated_at) : null };
};

/** Locked in the order of the keys, so that concurrent transactions do not deadlock. */
const lockCommits = (tx: Database, project_id: number, shas: readonly string[]) =>
  sql`
  select pg_advisory_xact_lock(key)
    from (select hashtextextended('commit_statuses ' || ${project_id}::bigint || ' ' || sha, 0) as key from unnest(${shas}::text[]) sha order by 1) keys`.execute(
    tx,
  );

/**
 * Assigns the statuses of commits to pipelines, and updates the status of these pipelines.
 * @param tx a transaction
 * @param of the project and the commits
 */
export async function assignStatuses(
  tx: Database,
  { project_id, shas }: { project_id: number; shas: readonly string[] },
): Promise<void> {
  await lockCommits(tx, project_id, shas);
  const groups = (await groupsOf(tx, project_id, shas)).map(rowOf);
  const added = groups.filter(({ pipeline_id }) => pipeline_id === null);
  if (added.length > 0) {
    const first = await nextIids(tx, { project_id }, 'pipelines', added.length);
    const values = added.map(({ first_id, pipeline_id: _, statuses: __, has_new: ___, ...row }, index) => ({
      ...row,
      id: first_id,
      iid: first + index,
      project_id,
    }));
    await tx.insertInto('pipelines').values(values).execute();
  }
  const known = groups.filter(({ pipeline_id }) => pipeline_id !== null);
  if (known.length > 0)
    await sql`
      update pipelines set status = changed.status, finished_at = changed.finished_at, updated_at = greatest(pipelines.updated_at, changed.updated_at)
        from jsonb_to_recordset(${JSON.stringify(known)}::jsonb)
               changed(pipeline_id bigint, has_new boolean, status text, finished_at timestamptz, updated_at timestamptz)
       where pipelines.id = changed.pipeline_id and (has_new or pipelines.status <> changed.status)`.execute(tx);
  await sql`
    update commit_statuses set pipeline_id = pipelines.id from pipelines
     where commit_statuses.project_id = ${project_id} and commit_statuses.sha = any(${shas}::text[]) and commit_statuses.pipeline_id is null
       and pipelines.source = 'external' and pipelines.project_id = commit_statuses.project_id and pipelines.sha = commit_statuses.sha and pipelines.ref = commit_statuses.ref`.execute(
    tx,
  );
}
