/** Hands jobs out to runners (docs/reference/runner_protocol.md#which-job). */
import { callerInJob, newJobToken, type Project, projectFor, tokenDigest } from '../../../access/index.ts';
import {
  type CiVariable,
  ExpansionError,
  expanded,
  type Job,
  type Variables,
} from '../../../ci_configuration/index.ts';
import { isUnavailable, repeated } from '../../../db/index.ts';
import { lastCommitOf, readCommit, repositoryOf, resolveCommit } from '../../../git/index.ts';
import type { Caller, Services } from '../../../http/index.ts';
import { type Dependency, dependenciesOf, dotenvOf, namesDependencies } from '../artifacts/dependency_queries.ts';
import { refOf } from '../configuration/lint_actions.ts';
import { noteMasked } from '../held_jobs/queries.ts';
import type { Runner } from '../runners/queries.ts';
import { followJobs, isOutdated } from '../running/deployment_actions.ts';
import { processAgainLater } from '../running/process_actions.ts';
import { type Abilities, lacksAbility } from './ability_rules.ts';
import { endJob } from './end_actions.ts';
import { foreignDependencies, foreignNeeds } from './foreign_queries.ts';
import { withIdTokens } from './id_token_actions.ts';
import { type CacheCommits, cacheFiles, presentArtifacts, presentDependency, presentForRunner } from './present.ts';
import { pipelineOfJob } from './queries.ts';
import { keepCommit } from './ref_actions.ts';
import type { FailureReason } from './rules.ts';
import { type Taken, takeJob } from './taking_queries.ts';
import {
  environmentOf,
  type Given,
  type PipelineOfJob,
  refOfPipeline,
  repositoryUrl,
  variablesOfJob,
} from './variable_queries.ts';

export type JobForRunner = ReturnType<typeof presentForRunner>;

/** The job cannot be given to a runner. */
class Unfit extends Error {
  readonly reason: FailureReason;
  constructor(reason: FailureReason, options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}

/** @throws Unfit unless the user of the job and its project still allow it to run */
async function rightsOf(
  services: Services,
  { user_id, project_id }: Taken,
): Promise<{ caller: Caller; project: Project }> {
  const caller = user_id === null ? undefined : await callerInJob(services, user_id);
  if (!caller) throw new Unfit('user_blocked');
  const project = await projectFor(services.db, caller, String(project_id));
  if (!project || project.marked_for_deletion) throw new Unfit('project_deleted');
  return { caller, project };
}

/** The newest commits that changed the files which keys of caches follow from. */
async function cacheCommits(repository: ReturnType<typeof repositoryOf>, sha: string, job: Job): Promise<CacheCommits> {
  const files = [...new Set(cacheFiles(job))];
  const found = await Promise.all(
    files.map(async (file) => [file, await lastCommitOf(repository, sha, file)] as const),
  );
  return new Map(found.flatMap(([file, commit]) => (commit === undefined ? [] : [[file, commit]])));
}

/** The largest size of all variables of a job. */
const maximumVariables_chars = 2 * 1024 * 1024;

/**
 * What the variables of a job follow from.
 * @throws Unfit
 */
async function givenFor(
  services: Services,
  { job, runner, token }: Pick<Given, 'job' | 'runner' | 'token'>,
): Promise<Given> {
  const { caller, project } = await rightsOf(services, job);
  const pipeline: PipelineOfJob = await pipelineOfJob(services.db, job.pipeline_id);
  const repository = repositoryOf(services, project);
  if ((await resolveCommit(repository, pipeline.sha)) === undefined) throw new Unfit('data_integrity_failure');
  const [commit, named, environment] = await Promise.all([
    readCommit(repository, pipeline.sha),
    refOf(repository, pipeline.ref),
    environmentOf(services.db, job),
  ]);
  return {
    ...{ job, token, pipeline, runner, project, caller, commit, environment },
    tag_message: named?.tag_message,
    has_ref: named !== undefined,
  };
}

/** Lets the deployment of a job begin. @throws Unfit if its environment is at something newer */
async function beginDeployment({ db }: Services, { id, definition }: Taken): Promise<void> {
  if (definition.environment_name === undefined) return;
  if (await isOutdated(db, id)) throw new Unfit('forward_deployment_failure');
  await repeated(db, (tx) => followJobs(tx, [id]));
}

/** What the variables of a job and its own dotenv report are when it ends; undefined if its user or its project is gone. */
export async function valuesAtEnd(
  services: Services,
  job: Taken,
): Promise<(Pick<Given, 'caller' | 'project'> & { values: Variables }) | undefined> {
  try {
    const given = await givenFor(services, { job, runner: undefined, token: '' });
    const before = await dependenciesOf(services.db, job.id, job.definition);
    const left = await dotenvOf(services, [...before.map(({ id }) => id), job.id]);
    const sent = await variablesOfJob(services, given, left.toReversed());
    return { ...given, values: valuesOf(sent) };
  } catch (error) {
    if (error instanceof Unfit || error instanceof ExpansionError) return undefined;
    throw error;
  }
}

const valuesOf = (sent: readonly CiVariable[]): Variables =>
  expanded(new Map(sent.map((variable) => [variable.key, variable])));

/** The jobs whose files a job gets. @throws Unfit if files are not there that it needs */
async function filesFor(services: Services, given: Given): Promise<Dependency[]> {
  const { job } = given;
  const own = await dependenciesOf(services.db, job.id, job.definition);
  if (namesDependencies(job.definition) && own.some(({ erased }) => erased))
    throw new Unfit('missing_dependency_failure');
  if (foreignNeeds(given).length === 0) return own;
  const left = await dotenvOf(
    services,
    own.map(({ id }) => id),
  );
  const values = valuesOf(await variablesOfJob(services, given, left.toReversed()));
  const foreign = await foreignDependencies(services.db, given, values);
  if (!foreign) throw new Unfit('missing_dependency_failure');
  return [...own, ...foreign];
}

/** @throws Unfit */
async function presented(
  services: Services,
  runner: Runner,
  { job, token, abilities }: { job: Taken; token: string; abilities: Abilities },
): Promise<JobForRunner> {
  const given = await givenFor(services, { job, runner, token });
  const { pipeline, project } = given;
  const definition = job.definition.job as Job;
  const is_for_merge_request = refOfPipeline(pipeline).type === 'merge_request';
  const needing = { is_for_merge_request, uploads: presentArtifacts(definition) ?? [] };
  if (lacksAbility(abilities, { allow_failure: definition.allow_failure, ...needing }))
    throw new Unfit('runner_unsupported');
  const repository = repositoryOf(services, project);
  await beginDeployment(services, job);
  const dependencies = await filesFor(services, given);
  const left = await dotenvOf(
    services,
    dependencies.map(({ id }) => id),
  );
  // Of several variables with one key, the one that came last counts.
  const sent = await withIdTokens(services, given, await variablesOfJob(services, given, left.toReversed()));
  if (sent.reduce((sum, { key, value }) => sum + key.length + value.length, 0) > maximumVariables_chars)
    throw new Unfit('data_integrity_failure');
  // A branch may move on or be deleted; the jobs of the pipeline still find its commit.
  await keepCommit(services.db, repository, pipeline);
  await noteMasked(
    services,
    job.id,
    sent.flatMap(({ value, masked }) => (masked ? [value] : [])),
  );
  return presentForRunner(given, {
    is_separated: pipeline.is_protected && pipeline.ci_separated_caches,
    ...{ sent, dependencies: dependencies.flatMap(presentDependency) },
    commits: await cacheCommits(repository, pipeline.sha, job.definition.job as Job),
    variables: valuesOf(sent),
    repository_url: repositoryUrl(services, { project, token }),
  });
}

/**
 * The job whose turn it is. One that cannot be presented fails, and does not keep the next one waiting.
 * @param manager_id of the machine that asks
 * @returns undefined when no job waits that the runner may take
 */
export async function handOutJob(
  services: Services,
  runner: Runner,
  { manager_id, abilities, failed }: { manager_id: number; abilities: Abilities; failed: (error: unknown) => void },
): Promise<JobForRunner | undefined> {
  for (;;) {
    const token = newJobToken();
    const held = {
      manager_id,
      token_digest: tokenDigest(token),
      can_cancel_gracefully: abilities.cancel_gracefully === true,
    };
    const job = await takeJob(services.db, runner, held);
    if (!job) return undefined;
    if (job.begins) await processAgainLater(services.db, { pipeline_id: job.pipeline_id, project_id: job.project_id });
    try {
      return await presented(services, runner, { job, token, abilities });
    } catch (error) {
      if (isUnavailable(error)) throw error;
      if (!(error instanceof Unfit)) failed(error);
      const reason = error instanceof Unfit ? error.reason : 'scheduler_failure';
      await endJob(services.db, job, { status: 'failed', reason });
    }
  }
}
