/** Which job a runner gets (docs/reference/runner_protocol.md#which-job). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isListedProject, takesInstanceRunners } from '../../../access/index.ts';
import type { SelectedJob } from '../../../ci_configuration/index.ts';
import { type Database, ofAnyLength, type Slots, statement } from '../../../db/index.ts';
import type { Runner } from '../runners/queries.ts';

/** A job that a runner was given a moment ago. */
export interface Taken {
  id: number;
  name: string;
  pipeline_id: number;
  project_id: number;
  user_id: number | null;
  definition: SelectedJob;
  timeout_s: number;
  queued_s: number;
  /** Whether the pipeline has not been seen as running yet. */
  begins: boolean;
}

interface Asking {
  runner_id: number;
  manager_id: number;
  namespace_id: number | null;
  tags: string[];
  run_untagged: boolean;
  protected_only: boolean;
  maximum_timeout_s: number | null;
  token_digest: Buffer;
  can_cancel_gracefully: boolean;
}

/** Jobs that wait for a runner. */
const isPending = sql<SqlBool>`job.kind = 'job' and job.status = 'pending'`;

/** The lists of tags that such jobs have, each found by one step in the index. */
const listsOfTags = sql`
  lists(digest, tags) as (
    (select tags_digest(job.tags), job.tags from commit_statuses job where ${isPending} order by 1 limit 1)
    union all
    select next.* from lists, lateral (
      select tags_digest(job.tags), job.tags from commit_statuses job where ${isPending} and tags_digest(job.tags) > lists.digest order by 1 limit 1) next
  )`;

/** The projects that have such jobs with tags that a runner has, each found by one step for each list. */
const waitingFor = ({ tags, run_untagged }: Pick<Suiting, 'tags' | 'run_untagged'>) => sql`
  ${listsOfTags}, waiting as (
    select distinct found.project_id from lists, lateral (
      with recursive of_list(project_id) as (
        (select job.project_id from commit_statuses job where ${isPending} and tags_digest(job.tags) = lists.digest order by job.project_id limit 1)
        union all
        select next.* from of_list, lateral (
          select job.project_id from commit_statuses job
           where ${isPending} and tags_digest(job.tags) = lists.digest and job.project_id > of_list.project_id order by job.project_id limit 1) next
      )
      select project_id from of_list
    ) found
    where ${hasTags({ tags: sql.ref('lists.tags') }, { tags, run_untagged })}
  )`;

/** How many jobs of each project instance runners execute. */
const busy = sql`
  busy as (
    select job.project_id, count(*) as running
      from commit_statuses job join runners on runners.id = job.runner_id and runners.runner_type = 'instance_type'
     where job.kind = 'job' and job.status in ('running', 'canceling') group by job.project_id
  )`;

/** Whether a runner takes jobs of a row of `projects`. */
export const served: Readonly<
  Record<
    Runner['runner_type'],
    (runner: Record<'runner_id' | 'namespace_id', RawBuilder<unknown>>) => RawBuilder<SqlBool>
  >
> = {
  instance_type: () => takesInstanceRunners,
  group_type: ({ namespace_id }) => sql`
    projects.group_runners_enabled and exists (
      select from namespaces where namespaces.id = projects.namespace_id and traversal_ids @> array[${namespace_id}::bigint])`,
  project_type: ({ runner_id }) => sql`
    exists (select from runner_projects where runner_id = ${runner_id} and runner_projects.project_id = projects.id)`,
};

/** A project whose jobs may be taken, unless runners say otherwise. */
const isOpen = sql<SqlBool>`
  (builds_access_level <> 'disabled' and not ${isListedProject('archived')} and not ${isListedProject('marked_for_deletion')})`;

interface Suiting {
  tags: RawBuilder<unknown>;
  run_untagged: RawBuilder<unknown>;
  protected_only: RawBuilder<unknown>;
}

/** Whether a runner has all tags of a job. */
const hasTags = (job: Pick<Suiting, 'tags'>, { tags, run_untagged }: Pick<Suiting, 'tags' | 'run_untagged'>) =>
  sql<SqlBool>`(${job.tags} <@ ${tags}::text[] and (${run_untagged}::boolean or cardinality(${job.tags}) > 0))`;

/** Whether a job is one that a runner of a project may take. */
const suitsRunner = ({ tags, run_untagged, protected_only }: Suiting) => sql<SqlBool>`
  ${isPending} and ${hasTags({ tags: sql.ref('job.tags') }, { tags, run_untagged })}
  and (not ${protected_only}::boolean or exists (select from pipelines where pipelines.id = job.pipeline_id and is_protected))`;

const takingFor = (runner_type: Runner['runner_type']) =>
  statement((asking: Slots<Asking>) => {
    const { runner_id, manager_id, maximum_timeout_s } = asking;
    const suits = suitsRunner(asking);
    const mayTake = sql<SqlBool>`${isOpen} and ${served[runner_type](asking)}`;
    const first = sql`(select job.id from commit_statuses job where job.project_id = projects.id and ${suits} order by job.id limit 1)`;
    // Instance runners serve nearly all projects, so that the first one in order mostly has a job for them, and no other is looked at.
    const queue =
      runner_type === 'instance_type'
        ? sql`${busy}, queue as (
            select project_id as id, coalesce(running, 0) as turn from waiting left join busy using (project_id)
          )`
        : sql`queue as (
            select * from (select projects.id, ${first} as turn from waiting join projects on projects.id = waiting.project_id where ${mayTake}) served
             where turn is not null
          )`;
    return sql<Taken>`
      with recursive ${waitingFor(asking)}, ${queue}, candidate as (
        select job.id from (select * from queue order by turn, id) queue
          cross join lateral (
            select job.id from commit_statuses job where job.project_id = queue.id and ${suits} order by job.id limit 1 for update skip locked) job
          cross join lateral (select from projects where projects.id = queue.id and job.id is not null and ${mayTake}) open
         limit 1
      ), taken as (
        update commit_statuses set status = 'running', started_at = now(), runner_id = ${runner_id}, runner_manager_id = ${manager_id}
         where id = (select id from candidate)
        returning id, name, pipeline_id, project_id, user_id, extract(epoch from now() - queued_at)::double precision as queued_s
      ), held as (
        insert into job_runs (job_id, token_digest, can_cancel_gracefully, timeout_s)
        select taken.id, ${asking.token_digest}, ${asking.can_cancel_gracefully},
               least(coalesce((definition->'job'->>'timeout_s')::integer, projects.build_timeout), ${maximum_timeout_s}::integer)
          from taken join job_definitions on job_id = taken.id join projects on projects.id = taken.project_id
        on conflict (job_id) do update
           set token_digest = excluded.token_digest, can_cancel_gracefully = excluded.can_cancel_gracefully, timeout_s = excluded.timeout_s,
               handed_out = job_runs.handed_out + 1, handed_out_at = now(), acknowledged_at = null, seen_at = now(), canceling_at = null
        returning job_id, timeout_s
      ), logged as (
        insert into job_logs (job_id) select id from taken on conflict do nothing
      )
      select taken.*, definition, held.timeout_s, pipelines.status <> 'running' as begins
        from taken join held on held.job_id = taken.id join job_definitions on job_definitions.job_id = taken.id
             join pipelines on pipelines.id = taken.pipeline_id`;
  });

const taking = {
  instance_type: takingFor('instance_type'),
  group_type: takingFor('group_type'),
  project_type: takingFor('project_type'),
};

/**
 * Gives a runner the job whose turn it is, in one statement: no other runner gets it, and its token is valid from then on.
 * @param held `token_digest` of the new token of the job
 * @returns undefined when no job waits that the runner may take
 */
export async function takeJob(
  db: Database,
  runner: Runner,
  held: Pick<Asking, 'manager_id' | 'token_digest' | 'can_cancel_gracefully'>,
): Promise<Taken | undefined> {
  const [taken] = await taking[runner.runner_type](db, {
    ...held,
    ...{ runner_id: runner.id, namespace_id: runner.namespace_id, tags: runner.tag_list },
    run_untagged: runner.run_untagged,
    protected_only: runner.access_level === 'ref_protected',
    maximum_timeout_s: runner.maximum_timeout,
  });
  return taken;
}

const [runner_id, namespace_id] = [sql.ref('runners.id'), sql.ref('runners.namespace_id')];
const isServed = sql.join(
  (['instance_type', 'group_type', 'project_type'] as const).map(
    (type) => sql`(runner_type = ${sql.lit(type)} and ${served[type]({ runner_id, namespace_id })})`,
  ),
  sql` or `,
);
const suits = suitsRunner({
  tags: sql.ref('runners.tag_list'),
  run_untagged: sql.ref('runners.run_untagged'),
  protected_only: sql`(runners.access_level = 'ref_protected')`,
});

const able = statement(
  ({ runner_ids, project_ids }: Slots<{ runner_ids: readonly number[]; project_ids: readonly number[] }>) => sql<{
    id: number;
  }>`
    select runners.id from runners
     where runners.id = any(${ofAnyLength(runner_ids, 'bigint[]')}) and not paused and exists (
       select from projects join commit_statuses job on job.project_id = projects.id
        where projects.id = any(${ofAnyLength(project_ids, 'bigint[]')}) and ${suits} and ${isOpen} and (${isServed}))`,
);

/** Those of some runners that may take a job of some projects. */
export async function runnersWithJobs(
  db: Database,
  runner_ids: readonly number[],
  project_ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await able(db, { runner_ids, project_ids });
  return new Set(rows.map(({ id }) => id));
}
