/** Storing pipelines of a configuration with their jobs (docs/reference/pipelines.md#what-starts-a-pipeline). */
import { sql } from 'kysely';
import type { SelectedJob, Selection } from '../../../ci_configuration/index.ts';
import { type Database, nextIid, repeated } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { notifyOfPipeline, type Source, tellOfPipeline } from '../../code/pipelines/index.ts';
import { processPipeline } from './process_actions.ts';

/** A variable that whoever starts a pipeline gives it. */
export interface GivenVariable {
  key: string;
  value: string;
  variable_type: 'env_var' | 'file';
  /** Whether `$` in the value is text. */
  raw?: boolean;
}

/** A pipeline to be made. */
export interface NewPipeline {
  project_id: number;
  user_id: number;
  source: Source;
  ref: string;
  tag: boolean;
  sha: string;
  /** The commit before a push. */
  before_sha?: string;
  is_protected: boolean;
  /** What it is made for, if that may be worked on again. */
  requested_as?: string;
  /** The schedule that started it. */
  schedule_id?: number;
  /** The merge request that it is made for. */
  merge_request_id?: number;
  /** The pipeline whose bridge makes it, if it is a child of the same project. */
  parent_id?: number;
  /** The pipeline that all began with, if a bridge makes it. */
  tree_id?: number;
  /** Predefined variables about what started it. */
  predefined: Readonly<Record<string, string>>;
}

/** What a pipeline is made of. */
export interface Parts extends Pick<Selection, 'name' | 'jobs' | 'auto_cancel'> {
  stages: readonly string[];
  variables: readonly GivenVariable[];
}

/** Either its parts, or the state in which it begins and ends. */
export type Content = Parts | { status: 'failed' | 'skipped'; yaml_errors?: string };

/** @returns the id; undefined if a pipeline was made for the same request before */
async function insertPipeline(tx: Database, made: NewPipeline, content: Content): Promise<number | undefined> {
  const { project_id, requested_as } = made;
  if (requested_as !== undefined) {
    const known = tx.selectFrom('pipelines').select('id').where('requested_as', '=', requested_as);
    if (await known.executeTakeFirst()) return undefined;
  }
  const iid = await nextIid(tx, { project_id }, 'pipelines');
  const state =
    'status' in content
      ? {
          status: content.status,
          finished_at: sql<string>`now()`,
          ...(content.yaml_errors === undefined
            ? {}
            : { yaml_errors: content.yaml_errors, failure_reason: 'config_error' }),
        }
      : {
          status: 'created',
          name: content.name ?? null,
          on_new_commit: content.auto_cancel.on_new_commit,
          on_job_failure: content.auto_cancel.on_job_failure,
        };
  const { id } = await tx
    .insertInto('pipelines')
    .values({ ...made, ...state, iid, predefined: JSON.stringify(made.predefined) })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** The resource groups of a project by key, made where there are none. */
async function resourceGroups(tx: Database, project_id: number, keys: readonly string[]) {
  if (keys.length === 0) return new Map<string, number>();
  const { rows } = await sql<{ key: string; id: number }>`
    with asked as (select distinct key from unnest(${keys}::text[]) key),
    added as (
      insert into resource_groups (project_id, key) select ${project_id}, key from asked order by key
      on conflict (project_id, key) do nothing returning key, id
    )
    select key, id from added union select key, id from resource_groups where project_id = ${project_id} and key = any(${keys}::text[])`.execute(
    tx,
  );
  return new Map(rows.map(({ key, id }) => [key, id]));
}

/** The jobs that a job waits for, by name; null for all of the earlier stages. */
function needsOf({ needs }: SelectedJob, names: ReadonlySet<string>): string[] | null {
  if (!needs) return null;
  return needs.flatMap((need) => (need.type === 'job' && names.has(need.job) ? [need.job] : []));
}

async function insertJobs(
  tx: Database,
  { project_id, user_id, sha, ref }: NewPipeline,
  pipeline_id: number,
  { jobs, stages }: { jobs: readonly SelectedJob[]; stages: readonly string[] },
): Promise<void> {
  const names = new Set(jobs.map(({ job }) => job.name));
  const keys = jobs.flatMap(({ resource_group }) => resource_group ?? []);
  const groups = await resourceGroups(tx, project_id, keys);
  const rows = jobs.map((selected) => {
    const { job, when, allow_failure, interruptible, environment_name, resource_group, tags } = selected;
    return {
      ...{ name: job.name, kind: job.type, stage: job.stage, stage_index: stages.indexOf(job.stage) },
      allow_failure: allow_failure === true,
      run_when: when,
      needs: needsOf(selected, names),
      interruptible,
      resource_group_id: resource_group === undefined ? null : groups.get(resource_group),
      environment: environment_name ?? null,
      tags,
      definition: selected,
    };
  });
  await sql`
    with given as materialized (
      select nextval('commit_statuses_id_seq') as id, row.* from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        row(name text, kind text, stage text, stage_index integer, allow_failure boolean, run_when text, needs text[], interruptible boolean,
            resource_group_id bigint, environment text, tags text[], definition jsonb)
    ), added as (
      insert into commit_statuses (id, project_id, user_id, sha, ref, pipeline_id, status, name, kind, stage, stage_index, allow_failure, run_when, needs,
                                   interruptible, resource_group_id, environment, tags) overriding system value
      select id, ${project_id}, ${user_id}, ${sha}, ${ref}, ${pipeline_id}, 'created', name, kind, stage, stage_index, allow_failure, run_when, needs,
             interruptible, resource_group_id, environment, tags
        from given
    )
    insert into job_definitions (job_id, definition) select id, definition from given`.execute(tx);
}

/**
 * Stores a pipeline with its jobs, of which the first ones may go on.
 * @returns its id; undefined if a pipeline was made for the same request before
 */
export const storePipeline = (
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  made: NewPipeline,
  content: Content,
): Promise<number | undefined> => repeated(db, (tx) => storeIn(tx, secrets, { made, content }));

/**
 * The same in a transaction.
 * @param bridge that starts it, and whether it waits for its end
 */
export async function storeIn(
  tx: Database,
  secrets: Services['secrets'],
  { made, content, bridge }: { made: NewPipeline; content: Content; bridge?: { job_id: number; waits: boolean } },
): Promise<number | undefined> {
  const id = await insertPipeline(tx, made, content);
  if (id === undefined) return undefined;
  if (bridge)
    await tx
      .insertInto('bridges')
      .values({ ...bridge, pipeline_id: id, has_started: true })
      .execute();
  if ('status' in content) {
    await notifyOfPipeline(tx, id, { before: 'created', after: content.status });
    await tellOfPipeline(tx, id);
    return id;
  }
  const sealed = content.variables.map(({ value, ...variable }) => ({
    ...{ raw: false, ...variable, pipeline_id: id, value: secrets.seal('pipeline variable', value) },
  }));
  if (sealed.length > 0) await tx.insertInto('pipeline_variables').values(sealed).execute();
  await insertJobs(tx, made, id, content);
  await processPipeline(tx, { ...made, id }, { isNew: true });
  return id;
}
