/** Hands jobs out to runners (docs/reference/runner_protocol.md#which-job). */
import { callerInJob, newJobToken, type Project, projectFor, tokenDigest } from '../../../access/index.ts';
import { expanded, type Job } from '../../../ci_configuration/index.ts';
import { isUnavailable } from '../../../db/index.ts';
import { lastCommitOf, readCommit, repositoryOf, resolveCommit } from '../../../git/index.ts';
import type { Caller, Services } from '../../../http/index.ts';
import { dependenciesOf, dotenvOf, namesDependencies } from '../artifacts/dependency_queries.ts';
import { refOf } from '../configuration/lint_actions.ts';
import { noteMasked } from '../held_jobs/queries.ts';
import type { Runner } from '../runners/queries.ts';
import { processAgainLater } from '../running/process_actions.ts';
import { endJob } from './end_actions.ts';
import { type CacheCommits, cacheFiles, presentDependency, presentForRunner } from './present.ts';
import { pipelineOfJob } from './queries.ts';
import { keepCommit } from './ref_actions.ts';
import type { FailureReason } from './rules.ts';
import { type Taken, takeJob } from './taking_queries.ts';
import { type Given, type PipelineOfJob, repositoryUrl, variablesOfJob } from './variable_queries.ts';

/** What a runner can do, as far as the server asks. */
export interface Abilities {
  cancel_gracefully?: boolean | undefined;
}

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

/** @throws Unfit */
async function presented(services: Services, runner: Runner, job: Taken, token: string): Promise<JobForRunner> {
  const { caller, project } = await rightsOf(services, job);
  const pipeline: PipelineOfJob = await pipelineOfJob(services.db, job.pipeline_id);
  const repository = repositoryOf(services, project);
  if ((await resolveCommit(repository, pipeline.sha)) === undefined) throw new Unfit('data_integrity_failure');
  const [commit, named] = await Promise.all([readCommit(repository, pipeline.sha), refOf(repository, pipeline.ref)]);
  const given: Given = {
    job,
    token,
    pipeline,
    runner,
    project,
    caller,
    commit,
    tag_message: named?.tag_message,
    has_ref: named !== undefined,
  };
  const dependencies = await dependenciesOf(services.db, job.id, job.definition);
  if (namesDependencies(job.definition) && dependencies.some(({ erased }) => erased))
    throw new Unfit('missing_dependency_failure');
  const left = await dotenvOf(
    services,
    dependencies.map(({ id }) => id),
  );
  // Of several variables with one key, the one that came last counts.
  const sent = await variablesOfJob(services, given, left.toReversed());
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
    ...{ is_protected: pipeline.is_protected, sent, dependencies: dependencies.flatMap(presentDependency) },
    commits: await cacheCommits(repository, pipeline.sha, job.definition.job as Job),
    variables: expanded(new Map(sent.map((variable) => [variable.key, variable]))),
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
      return await presented(services, runner, job, token);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      if (!(error instanceof Unfit)) failed(error);
      const reason = error instanceof Unfit ? error.reason : 'scheduler_failure';
      await endJob(services.db, job, { status: 'failed', reason });
    }
  }
}
