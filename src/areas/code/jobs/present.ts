/** Presents jobs, and reported statuses as jobs (docs/reference/pipelines.md#jobs). */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { commitKind, jobPage, type MaybeCaller, mayReadCode, mayUse, type Project } from '../../../access/index.ts';
import { type Database, isAmong, momentInJson } from '../../../db/index.ts';
import { readCommit, repositoryOf, resolveCommit } from '../../../git/index.ts';
import { type Caller, found, Id, nullable, optional, resource, type Services, Timestamp } from '../../../http/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import { hasReadablePipelines, isShownPipeline } from '../pipelines/access.ts';
import { Pipeline, type PipelineRow, pipelinePage, presentPipeline, secondsBetween } from '../pipelines/present.ts';
import { isArchived } from '../pipelines/queries.ts';
import { stage as externalStage, type State, states } from '../pipelines/rules.ts';
import { Commit, presentCommit } from '../repository/present.ts';
import { JobRunner, JobRunnerManager, managerOfJob, presentJobRunner, runnerOfJob } from '../runners/present.ts';
import { artifactsOfJob, type ListedArtifact } from './artifact_queries.ts';

/** What jobs and bridges have in common. */
const members = {
  id: Id,
  status: Type.Enum(states),
  stage: Type.String({ description: '`external` for a reported status' }),
  name: Type.String(),
  ref: Type.String(),
  tag: Type.Boolean({ description: 'Whether `ref` is a tag' }),
  coverage: nullable(Type.Number()),
  allow_failure: Type.Boolean(),
  created_at: Timestamp,
  started_at: nullable(Timestamp),
  finished_at: nullable(Timestamp),
  erased_at: nullable(Timestamp),
  duration: nullable(Type.Number({ description: 'Seconds' })),
  queued_duration: nullable(Type.Number({ description: 'Seconds' })),
  user: nullable(UserBasic),
  commit: nullable(Commit),
  pipeline: Pipeline,
  web_url: Type.String({
    description:
      'The page of the job; of a reported status `target_url`, or the page of the commit; of a bridge that of its pipeline',
  }),
  project: Type.Object({ ci_job_token_scope_enabled: Type.Boolean() }),
  archived: Type.Boolean(),
  failure_reason: optional(Type.String({ description: 'Only of failed jobs' })),
  tag_list: Type.Array(Type.String()),
};

const Downstream = nullable(Pipeline);

export const Job = resource('Job', {
  ...members,
  artifacts: Type.Array(
    Type.Object({
      file_type: Type.String(),
      size: Type.Integer(),
      filename: Type.String(),
      file_format: Type.String(),
    }),
    { description: 'The files that it left' },
  ),
  artifacts_file: optional(
    Type.Object({ filename: Type.String(), size: Type.Integer() }, { description: 'The archive, if there is one' }),
  ),
  runner: nullable(JobRunner),
  runner_manager: nullable(JobRunnerManager),
  artifacts_expire_at: nullable(Timestamp),
  downstream_pipeline: optional(Downstream),
});

/** A job that starts another pipeline: it has no runner and leaves no files. */
export const Bridge = resource('Bridge', { ...members, downstream_pipeline: Downstream });

const userOfStatus: RawBuilder<UserBasicRow | null> = sql`(
  select ${userBasicJson('users')} from users where users.id = commit_statuses.user_id)`;

/** The members of a row of `pipelines`, as arguments. */
const pipelineInJson = sql`
  'id', pipelines.id, 'iid', iid, 'project_id', project_id, 'sha', sha, 'ref', ref, 'tag', tag, 'status', status, 'source', source, 'name', pipelines.name,
  'created_at', ${momentInJson('pipelines.created_at')}, 'updated_at', ${momentInJson('pipelines.updated_at')}`;

const pipelineOfStatus: RawBuilder<PipelineRow & { tag: boolean }> = sql`(
  select json_build_object(${pipelineInJson})
     from pipelines where pipelines.id = commit_statuses.pipeline_id)`;

/** The jobs of a project, and its statuses, except for those that are not yet assigned to a pipeline. */
const archivedWithPipeline = sql<boolean>`(select ${isArchived} from pipelines where pipelines.id = commit_statuses.pipeline_id)`;

const entriesOf = (db: Database, project: Project) =>
  db
    .selectFrom('commit_statuses')
    .select(['id', 'sha', 'ref', 'name', 'target_url', 'coverage', 'created_at', 'started_at', 'finished_at'])
    .select(['kind', 'stage', 'allow_failure', 'failure_reason', 'queued_at', 'tags', 'erased_at'])
    .select((q) => q.ref('status').$castTo<State>().as('status'))
    .select([userOfStatus.as('user'), pipelineOfStatus.as('pipeline'), artifactsOfJob.as('left')])
    .select([runnerOfJob.as('runner'), managerOfJob.as('runner_manager'), archivedWithPipeline.as('archived')])
    .where('project_id', '=', project.id)
    .where('pipeline_id', 'is not', null)
    .$if(!mayUse(project, 'builds'), (q) => q.where('kind', '=', 'status'));

/** The jobs of a project without bridges, and its statuses, except for those that are not yet assigned to a pipeline. */
export const jobsOf = (db: Database, project: Project) => entriesOf(db, project).where('kind', '<>', 'bridge');

/** The pipeline that each row of `commit_statuses` has started, if the caller may read it. */
const downstreamOf = (caller: MaybeCaller): RawBuilder<(PipelineRow & { full_path: string }) | null> => sql`(
  select json_build_object(${pipelineInJson}, 'full_path', projects.full_path)
    from bridges join pipelines on pipelines.id = bridges.pipeline_id join projects on projects.id = pipelines.project_id
   where bridges.job_id = commit_statuses.id and has_started and ${hasReadablePipelines(caller)} and ${isShownPipeline(caller)})`;

/** The bridges of a project, each with the pipeline that it has started. */
export const bridgesOf = (db: Database, project: Project, caller: MaybeCaller) =>
  entriesOf(db, project).where('kind', '=', 'bridge').select(downstreamOf(caller).as('downstream'));

type JobRow = Awaited<ReturnType<ReturnType<typeof jobsOf>['executeTakeFirstOrThrow']>>;
type Place = Pick<Services, 'storages' | 'url'>;

/** The commits of some jobs, each once; null for a commit that is gone or whose code the caller may not read. */
async function commitsOf({ storages, url }: Place, project: Project, rows: readonly JobRow[]) {
  if (!mayReadCode(project)) return new Map<string, null>();
  const repository = repositoryOf({ storages }, project);
  const shas = [...new Set(rows.map(({ sha }) => sha))];
  const commits = shas.map(async (sha) => {
    const id = await resolveCommit(repository, sha);
    return [sha, id === undefined ? null : presentCommit(url, project, await readCommit(repository, id))] as const;
  });
  return new Map(await Promise.all(commits));
}

const artifactMembers = (artifacts: ListedArtifact[]) => {
  const archive = artifacts.find(({ file_type }) => file_type === 'archive');
  return {
    artifacts,
    ...(archive ? { artifacts_file: { filename: archive.filename, size: archive.size } } : {}),
  };
};

/** The page of a bridge is that of its pipeline. */
const pageOf = ({ full_path }: Project, { id, kind, sha, pipeline }: JobRow): string => {
  if (kind === 'status') return commitKind.page(full_path, sha);
  return kind === 'bridge' ? pipelinePage(full_path, pipeline.id) : jobPage(full_path, id);
};

const presentMembers = (
  url: string,
  project: Project,
  entry: JobRow,
  commit: Static<typeof Commit> | null,
): Omit<Static<typeof Bridge>, 'downstream_pipeline'> => {
  const { pipeline, user, target_url, queued_at, tags, failure_reason, ...row } = entry;
  return {
    ...row,
    stage: row.stage ?? externalStage,
    ...(row.status === 'failed' && failure_reason !== null ? { failure_reason } : {}),
    tag: pipeline.tag,
    duration: secondsBetween(row.started_at, row.finished_at),
    queued_duration: secondsBetween(queued_at ?? row.created_at, row.started_at),
    user: user && presentUserBasic(url, user),
    commit,
    pipeline: presentPipeline(url, project.full_path, pipeline),
    web_url: target_url ?? url + pageOf(project, entry),
    project: { ci_job_token_scope_enabled: false },
    tag_list: tags ?? [],
  };
};

const presentJob = (
  url: string,
  project: Project,
  row: JobRow,
  commit: Static<typeof Commit> | null,
): Static<typeof Job> => ({
  ...presentMembers(url, project, row, commit),
  ...artifactMembers(row.left.files ?? []),
  runner: row.runner && presentJobRunner(row.runner),
  runner_manager: row.runner_manager,
  artifacts_expire_at: row.left.expire_at,
});

type BridgeRow = JobRow & { downstream: (PipelineRow & { full_path: string }) | null };

const presentDownstream = (url: string, { downstream }: BridgeRow) =>
  downstream && presentPipeline(url, downstream.full_path, downstream);

/** Bridges as replies. */
export async function presentBridges(
  services: Place,
  project: Project,
  rows: readonly BridgeRow[],
): Promise<Static<typeof Bridge>[]> {
  const commits = await commitsOf(services, project, rows);
  return rows.map((row) => ({
    ...presentMembers(services.url, project, row, commits.get(row.sha) ?? null),
    downstream_pipeline: presentDownstream(services.url, row),
  }));
}

/** Statuses as jobs. */
export async function presentJobs(
  services: Place,
  project: Project,
  rows: readonly JobRow[],
): Promise<Static<typeof Job>[]> {
  const commits = await commitsOf(services, project, rows);
  return rows.map((row) => presentJob(services.url, project, row, commits.get(row.sha) ?? null));
}

/** Jobs as replies, by id; those that are gone, or that the caller may not read, are left out. */
export async function jobsById(
  services: Place & Pick<Services, 'db'>,
  project: Project,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Static<typeof Job>>> {
  if (ids.length === 0) return new Map();
  const rows = await jobsOf(services.db, project)
    .where(isAmong('id', ids, 'bigint[]'))
    .execute();
  return new Map((await presentJobs(services, project, rows)).map((job) => [job.id, job]));
}

/**
 * A job as a reply.
 * @throws ApiError 404
 */
export async function jobReply(
  services: Place & Pick<Services, 'db'>,
  project: Project,
  id: number,
): Promise<Static<typeof Job>> {
  const row = await jobsOf(services.db, project).where('id', '=', id).executeTakeFirst();
  const [job] = await presentJobs(services, project, [found('Job', row)]);
  return job!;
}

/**
 * A job or bridge that was changed, as a reply.
 * @throws ApiError 404
 */
export async function changedJobReply(
  services: Place & Pick<Services, 'db'>,
  { project, caller }: { project: Project; caller: Caller },
  id: number,
): Promise<Static<typeof Job>> {
  const row = await bridgesOf(services.db, project, caller).where('id', '=', id).executeTakeFirst();
  if (!row) return jobReply(services, project, id);
  const [job] = await presentJobs(services, project, [row]);
  return { ...job!, downstream_pipeline: presentDownstream(services.url, row) };
}
