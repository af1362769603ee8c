/** Pipelines and jobs in webhooks (docs/reference/pipelines.md#webhooks). */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { mergeRequestKind } from '../../../access/index.ts';
import { membersInJson, objectInJson, plainColumns, rowInJson, rowsInJson } from '../../../db/index.ts';
import { Id, Iid, nullable, optional, resource, Timestamp } from '../../../http/index.ts';
import {
  authored,
  HookCommit,
  HookPerson,
  HookProject,
  HookRepository,
  oneCommit,
  personRow,
  presentAuthored,
  presentPerson,
  presentProject,
  presentRepository,
  projectRow,
} from '../../activity/hooks/index.ts';
import { hookEvent, type Refs } from '../../instance/hook_events/index.ts';
import { HookRunner, hookRunnerOf } from '../runners/present.ts';
import { noCommit, pipelinePage } from './present.ts';
import { stage as externalStage, labels, type State } from './rules.ts';

/** The most builds in a body; the newest are kept. */
const mostBuilds = sql.lit(1000);

/** The seconds from one column to another. */
const seconds = (from: string, to: string): RawBuilder<number | null> =>
  sql`round(extract(epoch from ${sql.ref(to)} - ${sql.ref(from)})::numeric, 3)::double precision`;

const Seconds = nullable(Type.Number({ description: 'In seconds' }));

interface News {
  id: number;
  project_id: number;
  user_id: number | null;
}

const HookBuild = Type.Object({
  id: Id,
  stage: Type.String(),
  name: Type.String(),
  status: Type.String(),
  created_at: Timestamp,
  started_at: nullable(Timestamp),
  finished_at: nullable(Timestamp),
  duration: Seconds,
  queued_duration: Seconds,
  failure_reason: nullable(Type.String()),
  when: Type.String(),
  manual: Type.Boolean(),
  allow_failure: Type.Boolean(),
  user: nullable(HookPerson),
  runner: nullable(HookRunner),
  artifacts_file: Type.Object({ filename: Type.Null(), size: Type.Null() }),
  environment: Type.Null(),
});

const { created_at, started_at, finished_at } = HookBuild.properties;

const build = {
  ...plainColumns('commit_statuses', ['id', 'name', 'status', 'stage', 'allow_failure', 'failure_reason', 'run_when']),
  ...membersInJson('commit_statuses', { created_at, started_at, finished_at }),
  duration: seconds('commit_statuses.started_at', 'commit_statuses.finished_at'),
  queued_duration: seconds('commit_statuses.created_at', 'commit_statuses.started_at'),
  user: personRow(sql<number | null>`commit_statuses.user_id`),
  runner: hookRunnerOf(sql.ref('commit_statuses.runner_id')),
};

const HookPipelineRequest = Type.Object({
  id: Id,
  iid: Iid,
  title: Type.String(),
  source_branch: Type.String(),
  source_project_id: nullable(Id),
  target_branch: Type.String(),
  target_project_id: Id,
  state: Type.String(),
  merge_status: Type.String(),
  url: Type.String({ format: 'uri' }),
});

type Request = Omit<Static<typeof HookPipelineRequest>, 'url'> & { full_path: string };

const request: { [Name in keyof Request]: RawBuilder<Request[Name]> } = {
  id: sql.ref('m.id'),
  iid: sql.ref('m.iid'),
  title: sql.ref('m.title'),
  source_branch: sql.ref('m.source_branch'),
  source_project_id: sql.ref('m.source_project_id'),
  target_branch: sql.ref('m.target_branch'),
  target_project_id: sql.ref('m.project_id'),
  full_path: sql.ref('projects.full_path'),
  state: sql.ref('m.state'),
  merge_status: sql.ref('m.merge_status'),
};

/** The merge request that the pipeline was made for, or the open one into the project whose head is its commit; the newest if there are several. */
const requestOf = sql<Request | null>`(
  select ${objectInJson(request)} from ${sql.table(mergeRequestKind.table)} m join projects on projects.id = m.project_id
   where m.id = coalesce(pipelines.merge_request_id, (
     select open.id from ${sql.table(mergeRequestKind.table)} open
      where not pipelines.tag and open.project_id = pipelines.project_id and open.source_branch = pipelines.ref and open.head_commit_id = pipelines.sha
        and open.state = 'opened'
      order by open.id desc limit 1)))`;

const presentRequest = (url: string, { full_path, ...row }: Request): Static<typeof HookPipelineRequest> => ({
  ...row,
  url: url + mergeRequestKind.page(full_path, row.iid),
});

interface Upstream {
  project_id: number;
  full_path: string;
  pipeline_id: number;
  job_id: number;
}

/** The bridge that has started each row of `pipelines`. */
const upstreamOf = sql<Upstream | null>`(
  select json_build_object('project_id', projects.id, 'full_path', full_path, 'pipeline_id', job.pipeline_id, 'job_id', job.id)
    from bridges join commit_statuses job on job.id = bridges.job_id join projects on projects.id = job.project_id
   where bridges.pipeline_id = pipelines.id and has_started)`;

const HookUpstream = Type.Object({
  project: Type.Object({ id: Id, web_url: Type.String({ format: 'uri' }), path_with_namespace: Type.String() }),
  pipeline_id: Id,
  job_id: Id,
});

/** The stages of the current jobs of a pipeline, in order; null if it has none of its own. */
const stagesOf = sql<string[] | null>`(
  select json_agg(stage order by stage_index) from (select stage, min(stage_index) as stage_index from commit_statuses
   where pipeline_id = pipelines.id and not retried and stage is not null group by stage) stages)`;

export const pipelineEvent = hookEvent({
  name: 'pipeline',
  summary: 'A pipeline has begun, or its status has changed',
  triggers: ['pipeline_events'],
  snapshot: (news: Refs<News>) => ({
    user: personRow(news.user_id),
    project: projectRow(news.project_id),
    pipeline: rowInJson('pipelines', news.id, {
      ...plainColumns('pipelines', ['id', 'iid', 'name', 'ref', 'tag', 'sha', 'before_sha', 'source', 'status']),
      stages: stagesOf,
      ...membersInJson('pipelines', { created_at, finished_at }),
      duration: seconds('pipelines.started_at', 'pipelines.finished_at'),
      queued_duration: seconds('pipelines.created_at', 'pipelines.started_at'),
      merge_request: requestOf,
      upstream: upstreamOf,
    }),
    builds: rowsInJson(
      build,
      sql`
        from (select * from commit_statuses where pipeline_id = ${news.id} and not retried order by id desc limit ${mostBuilds}) commit_statuses`,
      sql`commit_statuses.id desc`,
    ),
  }),
  body: resource('PipelineHookBody', {
    object_kind: Type.Literal('pipeline'),
    object_attributes: Type.Object({
      id: Id,
      iid: Iid,
      name: nullable(Type.String()),
      ref: Type.String(),
      tag: Type.Boolean(),
      sha: Type.String(),
      before_sha: Type.String(),
      source: Type.String(),
      status: Type.String(),
      detailed_status: Type.String(),
      stages: Type.Array(Type.String()),
      created_at: Timestamp,
      finished_at: nullable(Timestamp),
      duration: Seconds,
      queued_duration: Seconds,
      variables: Type.Array(Type.Object({})),
      url: Type.String({ format: 'uri' }),
    }),
    merge_request: nullable(HookPipelineRequest),
    user: nullable(HookPerson),
    project: HookProject,
    commit: nullable(HookCommit),
    builds: Type.Array(HookBuild),
    source_pipeline: optional(HookUpstream),
  }),
}).presentedBy(async ({ user, project, pipeline, builds }, services) => {
  const presentBuild = ({ run_when, ...row }: (typeof builds)[number]): Static<typeof HookBuild> => ({
    ...row,
    stage: row.stage ?? externalStage,
    when: run_when ?? 'on_success',
    manual: run_when === 'manual',
    user: row.user && presentPerson(row.user, services),
    artifacts_file: { filename: null, size: null },
    environment: null,
  });
  const { merge_request, upstream, ...attributes } = pipeline;
  return {
    object_kind: 'pipeline',
    object_attributes: {
      ...attributes,
      before_sha: pipeline.before_sha ?? noCommit,
      detailed_status: labels[pipeline.status as State],
      stages: pipeline.stages ?? [externalStage],
      variables: [],
      url: services.url + pipelinePage(project.full_path, pipeline.id),
    },
    merge_request: merge_request && presentRequest(services.url, merge_request),
    user: user && presentPerson(user, services),
    project: presentProject(project, services),
    commit: await oneCommit(services, project, pipeline.sha),
    builds: builds.map(presentBuild),
    ...(upstream && {
      source_pipeline: {
        project: {
          id: upstream.project_id,
          web_url: `${services.url}/${upstream.full_path}`,
          path_with_namespace: upstream.full_path,
        },
        pipeline_id: upstream.pipeline_id,
        job_id: upstream.job_id,
      },
    }),
  };
});

export const jobEvent = hookEvent({
  name: 'job',
  summary: 'The state of a job has changed, or a commit status was reported',
  triggers: ['job_events'],
  snapshot: (news: Refs<News & { pipeline_id: number }>) => ({
    user: personRow(news.user_id),
    project: projectRow(news.project_id),
    job: rowInJson('commit_statuses', news.id, {
      ...plainColumns('commit_statuses', [
        'id',
        'ref',
        'sha',
        'name',
        'status',
        'stage',
        'allow_failure',
        'failure_reason',
      ]),
      ...membersInJson('commit_statuses', { created_at, started_at, finished_at }),
      duration: seconds('commit_statuses.started_at', 'commit_statuses.finished_at'),
      queued_duration: seconds('commit_statuses.created_at', 'commit_statuses.started_at'),
      runner: hookRunnerOf(sql.ref('commit_statuses.runner_id')),
    }),
    pipeline: rowInJson('pipelines', news.pipeline_id, {
      ...plainColumns('pipelines', ['id', 'name', 'tag', 'before_sha', 'status']),
      ...membersInJson('pipelines', { started_at, finished_at }),
      duration: seconds('pipelines.started_at', 'pipelines.finished_at'),
    }),
  }),
  body: resource('JobHookBody', {
    object_kind: Type.Literal('build'),
    ref: Type.String(),
    tag: Type.Boolean(),
    before_sha: Type.String(),
    sha: Type.String(),
    build_id: Id,
    build_name: Type.String(),
    build_stage: Type.String(),
    build_status: Type.String(),
    build_created_at: Timestamp,
    build_started_at: nullable(Timestamp),
    build_finished_at: nullable(Timestamp),
    build_duration: Seconds,
    build_queued_duration: Seconds,
    build_allow_failure: Type.Boolean(),
    build_failure_reason: Type.String(),
    pipeline_id: Id,
    runner: nullable(HookRunner),
    project_id: Id,
    project_name: Type.String(),
    user: nullable(HookPerson),
    commit: Type.Object({
      id: Id,
      name: nullable(Type.String()),
      sha: Type.String(),
      status: Type.String(),
      duration: Seconds,
      started_at: nullable(Timestamp),
      finished_at: nullable(Timestamp),
      ...authored,
    }),
    repository: HookRepository,
    project: HookProject,
    environment: Type.Null(),
  }),
}).presentedBy(async ({ user, project, job, pipeline }, services) => ({
  object_kind: 'build',
  ref: job.ref,
  tag: pipeline.tag,
  before_sha: pipeline.before_sha ?? noCommit,
  sha: job.sha,
  build_id: job.id,
  build_name: job.name,
  build_stage: job.stage ?? externalStage,
  build_status: job.status,
  build_created_at: job.created_at,
  build_started_at: job.started_at,
  build_finished_at: job.finished_at,
  build_duration: job.duration,
  build_queued_duration: job.queued_duration,
  build_allow_failure: job.allow_failure,
  build_failure_reason: job.failure_reason ?? 'unknown_failure',
  pipeline_id: pipeline.id,
  runner: job.runner,
  project_id: project.id,
  project_name: project.full_path,
  user: user && presentPerson(user, services),
  commit: { ...pipeline, name: null, sha: job.sha, ...(await presentAuthored(services, project, job.sha)) },
  repository: presentRepository(project, services),
  project: presentProject(project, services),
  environment: null,
}));
