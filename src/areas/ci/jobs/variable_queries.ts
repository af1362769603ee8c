/** The variables of a job when a runner gets it (docs/reference/ci_configuration.md#variables). */
import { jobPage, type Project } from '../../../access/index.ts';
import {
  type CiVariable,
  expand,
  expanded,
  inForce,
  jobVariables,
  rawVariables,
  slugOf,
  type Variables,
} from '../../../ci_configuration/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Commit } from '../../../git/index.ts';
import type { Caller, Services } from '../../../http/index.ts';
import { pipelinePage, type Source } from '../../code/pipelines/index.ts';
import { clusterVariables } from '../../deployments/clusters/index.ts';
import { type Built, sourcesFor } from '../configuration/variable_queries.ts';
import type { Runner } from '../runners/queries.ts';
import { variablesGivenTo, variablesOf } from '../running/queries.ts';
import type { Taken } from './taking_queries.ts';

/** A pipeline as its jobs know it. */
export interface PipelineOfJob {
  id: number;
  iid: number;
  source: Exclude<Source, 'external'>;
  sha: string;
  ref: string;
  tag: boolean;
  before_sha: string | null;
  name: string | null;
  created_at: string;
  is_protected: boolean;
  /** What its project says of jobs. */
  build_git_strategy: string;
  ci_default_git_depth: number | null;
  ci_separated_caches: boolean;
  /** Variables about what started it. */
  predefined: Readonly<Record<string, string>>;
}

/** What a pipeline is built for. */
export function refOfPipeline({
  ref,
  tag,
  predefined,
}: Pick<PipelineOfJob, 'ref' | 'tag' | 'predefined'>): Built['ref'] {
  const source_branch = predefined.CI_MERGE_REQUEST_SOURCE_BRANCH_NAME;
  if (source_branch !== undefined) return { type: 'merge_request', name: source_branch };
  return { type: tag ? 'tag' : 'branch', name: ref };
}

/** What the variables of a job follow from. */
export interface Given {
  job: Taken;
  /** The token of the job. */
  token: string;
  pipeline: PipelineOfJob;
  /** Undefined once the job has ended. */
  runner: Runner | undefined;
  project: Project;
  /** The user who runs the job. */
  caller: Caller;
  commit: Commit;
  tag_message: Built['tag_message'];
  /** Whether the branch or tag is still there. */
  has_ref: boolean;
  /** Undefined for a job without one, or one that is not there. */
  environment: EnvironmentOfJob | undefined;
}

/** An environment as jobs know it. */
interface EnvironmentOfJob {
  id: number;
  slug: string;
  tier: string;
}

/** The environment of a job, if it is there. */
export async function environmentOf(
  db: Database,
  { project_id, definition: { environment_name: name } }: Pick<Taken, 'project_id' | 'definition'>,
): Promise<EnvironmentOfJob | undefined> {
  if (name === undefined) return undefined;
  const query = db.selectFrom('environments').select(['id', 'slug', 'tier']).where('project_id', '=', project_id);
  return query.where('name', '=', name).executeTakeFirst();
}

/** A variable as the runner gets it. */
export interface SentVariable extends CiVariable {
  /** Whether the server itself made it. */
  predefined?: boolean;
}

const withToken = (url: string, project: Project, token: string): string => {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//gitlab-ci-token:${token}@${host}${pathname.replace(/\/$/, '')}/${project.full_path}.git`;
};

/** The address with which the job clones the repository. */
export const repositoryUrl = ({ url }: Pick<Services, 'url'>, { project, token }: Pick<Given, 'project' | 'token'>) =>
  withToken(url, project, token);

const masked = (key: string, value: string): CiVariable => ({ key, value, raw: true, masked: true });

function ofJob({ url }: Pick<Services, 'url'>, given: Given): CiVariable[] {
  const { job, pipeline, runner, project, token } = given;
  const { definition } = job;
  const declared = definition.job.environment;
  return [
    ...jobVariables(definition.job),
    masked('CI_JOB_TOKEN', token),
    masked('CI_REPOSITORY_URL', withToken(url, project, token)),
    ...rawVariables({
      CI_PIPELINE_ID: String(pipeline.id),
      CI_PIPELINE_IID: String(pipeline.iid),
      CI_PIPELINE_URL: url + pipelinePage(project.full_path, pipeline.id),
      CI_PIPELINE_CREATED_AT: pipeline.created_at,
      CI_PIPELINE_NAME: pipeline.name ?? undefined,
      CI_JOB_ID: String(job.id),
      CI_JOB_URL: url + jobPage(project.full_path, job.id),
      CI_JOB_STARTED_AT: new Date().toISOString(),
      CI_JOB_TIMEOUT: String(job.timeout_s),
      CI_JOB_MANUAL: definition.when === 'manual' ? 'true' : undefined,
      CI_JOB_IMAGE: definition.job.type === 'job' ? definition.job.image?.name : undefined,
      CI_RUNNER_ID: runner && String(runner.id),
      CI_RUNNER_DESCRIPTION: runner?.description,
      CI_RUNNER_TAGS: runner && JSON.stringify(runner.tag_list),
      CI_ENVIRONMENT_NAME: definition.environment_name,
      CI_ENVIRONMENT_ACTION: declared?.action,
      CI_ENVIRONMENT_TIER: given.environment?.tier ?? declared?.deployment_tier,
      CI_ENVIRONMENT_ID: given.environment && String(given.environment.id),
      CI_ENVIRONMENT_SLUG: given.environment?.slug,
    }),
  ];
}

/** The credentials of the cluster that a job works with; those of an unprotected branch or tag get none, and neither does one that only stops an environment. */
async function ofCluster(services: Services, { job, pipeline, project, environment }: Given): Promise<CiVariable[]> {
  const { environment_name: name, job: definition } = job.definition;
  if (name === undefined || !pipeline.is_protected || definition.environment?.action === 'stop') return [];
  return clusterVariables(services, { project, environment: { name, slug: environment?.slug ?? slugOf(name) } });
}

/**
 * The variables of a job, each key once.
 * @param dotenv of reports of the jobs before it
 * @throws ExpansionError
 */
export async function variablesOfJob(
  services: Services,
  given: Given,
  dotenv: readonly CiVariable[],
): Promise<SentVariable[]> {
  const { job, pipeline, project, caller, commit, tag_message } = given;
  const { environment_name } = job.definition;
  const built: Built = {
    ref: refOfPipeline(pipeline),
    // Whoever started it might; what is for protected refs is decided when it starts.
    rights: { is_protected: pipeline.is_protected, may_run: true },
    ...{ commit, source: pipeline.source, predefined: pipeline.predefined },
    ...(tag_message === undefined ? {} : { tag_message }),
    ...(pipeline.before_sha === null ? {} : { before_sha: pipeline.before_sha }),
    ...(environment_name === undefined ? {} : { environment: environment_name }),
  };
  const [sources, ofPipeline, toJob, deployment] = await Promise.all([
    sourcesFor(services, { project, caller }, built),
    variablesOf(services, pipeline.id),
    variablesGivenTo(services, job.id),
    ofCluster(services, given),
  ]);
  const predefined = [...ofJob(services, given), ...(sources.predefined ?? [])];
  const stated = ofPipeline.flatMap(({ key, value, variable_type, raw }) =>
    value === null ? [] : [{ key, value, raw, file: variable_type === 'file' }],
  );
  const known = inForce({
    ...sources,
    pipeline: [...toJob, ...stated],
    dotenv,
    job: job.definition.variables,
    deployment,
    predefined,
  });
  const ours = new Set(predefined);
  const url = urlOf(given, known);
  const all = url === undefined ? known : new Map([...known, ['CI_ENVIRONMENT_URL', url]]);
  return [...all.values()].map((variable) => (ours.has(variable) ? { ...variable, predefined: true } : variable));
}

/** The address of the environment, as far as it is known before the job ends. */
function urlOf({ job }: Given, known: Variables): CiVariable | undefined {
  const { url } = job.definition.job.environment ?? {};
  return url === undefined ? undefined : { key: 'CI_ENVIRONMENT_URL', value: expand(url, expanded(known)), raw: true };
}
