/** What the jobs of a pipeline do to environments (docs/reference/environments.md#deployments-by-jobs). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { callerInJob, projectFor } from '../../../access/index.ts';
import type { JobEnvironment } from '../../../ci_configuration/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import { ApiError, badRequest, forbidden } from '../../../http/index.ts';
import type { State } from '../../code/pipelines/index.ts';
import {
  addJobDeployments,
  approvalsOf,
  auditOverride,
  concludeStops,
  type DeployingJob,
  type DeploymentStatus,
  freezeNow,
  markFrozen,
  missing,
  nameReasons,
  type Outcome,
  protectionFor,
  renewEnvironment,
  type StatusChange,
  setStatuses,
} from '../../deployments/environments/index.ts';
import { noteInLogs } from '../held_jobs/log_actions.ts';

export const unplayableText = '400 Bad request - Unplayable Job';

/** A job with an environment, and its deployment. */
interface EnvironmentJob extends Omit<DeployingJob, 'job_id' | 'tier' | 'on_stop'> {
  id: number;
  project_id: number;
  status: State;
  declared: JobEnvironment;
  /** Null where there is none yet. */
  environment_id: number | null;
  deployment: { id: number; status: DeploymentStatus; tier: string } | null;
}

/** The environment of each row of `job`, also after a rename: that of its deployment, of the deployment that it stops, or else the one with the name. */
const environmentOfJob = sql<number | null>`coalesce(
  deployments.environment_id,
  (select stopped.environment_id from deployments stopped join commit_statuses own on own.id = stopped.job_id
    where own.pipeline_id = job.pipeline_id and stopped.on_stop = job.name order by stopped.id desc limit 1),
  (select named.id from environments named where named.project_id = job.project_id and named.name = job.environment))`;

/** @param which a predicate on rows of `job` */
async function environmentJobs(tx: Database, which: RawBuilder<SqlBool>): Promise<EnvironmentJob[]> {
  const { rows } = await sql<EnvironmentJob>`
    select job.id, job.project_id, job.user_id, job.status, job.sha, job.environment, definition->'job'->'environment' as declared, pipelines.tag,
           ${environmentOfJob} as environment_id,
           coalesce(predefined->>'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME', pipelines.ref) as ref,
           case when deployments.id is not null then jsonb_build_object('id', deployments.id, 'status', deployments.status, 'tier', environments.tier) end as deployment
      from commit_statuses job join job_definitions on job_definitions.job_id = job.id join pipelines on pipelines.id = job.pipeline_id
           left join deployments on deployments.job_id = job.id left join environments on environments.id = deployments.environment_id
     where job.environment is not null and job.kind <> 'status' and ${which} order by job.id`.execute(tx);
  return rows;
}

const amongIds = (ids: readonly number[]) => isAmong('job.id', ids, 'bigint[]');

/** @returns whether they were added: a project has only so many environments */
async function addDeployments(tx: Database, jobs: readonly EnvironmentJob[]): Promise<boolean> {
  const added = jobs.map(({ id, declared, environment, user_id, ref, tag, sha }) => ({
    ...{ job_id: id, environment, user_id, ref, tag, sha, on_stop: declared.on_stop ?? null },
    tier: declared.deployment_tier as DeployingJob['tier'],
  }));
  try {
    if (jobs[0]) await addJobDeployments(tx, jobs[0].project_id, added);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

const deploys = ({ declared }: EnvironmentJob) => declared.action === 'start';
const isFit = ({ environment }: EnvironmentJob) => nameReasons(environment).length === 0;

/** Adds the deployments of a new pipeline. A name with variables is that of a review app, which is there from the start of its job on. */
export async function planDeployments(tx: Database, pipeline_id: number): Promise<void> {
  const jobs = await environmentJobs(tx, sql`job.pipeline_id = ${pipeline_id}`);
  await addDeployments(
    tx,
    jobs.filter((job) => deploys(job) && isFit(job) && !/[$%]/.test(job.declared.name)),
  );
}

/** How jobs are started: by a person, or by themselves. */
export interface Starting {
  /** Whether a Maintainer deploys during a freeze; undefined when nobody asks. */
  override_freeze?: boolean;
}

const isAsked = ({ override_freeze }: Starting) => override_freeze !== undefined;

type Refusal = 'protected_environment_failure' | 'environment_creation_failure';

const fail = (tx: Database, ids: readonly number[], reason: Refusal) =>
  sql`update commit_statuses set status = 'failed', failure_reason = ${reason}, finished_at = now() where ${isAmong('id', ids, 'bigint[]')}`.execute(
    tx,
  );

const hold = (tx: Database, ids: readonly number[]) =>
  sql`update commit_statuses set status = 'manual', scheduled_at = null where ${isAmong('id', ids, 'bigint[]')}`.execute(
    tx,
  );

type Verdict = 'starts' | 'starts_frozen' | 'starts_overriding' | 'protected' | 'blocked' | { frozen: string };

/** Who deploys for a job; undefined for a user who may not sign in or cannot see the project: a runner learns that. */
async function actingFor(tx: Database, project_id: number, user_id: number | null) {
  // No address is made of this caller.
  const caller = user_id === null ? undefined : await callerInJob({ db: tx, url: '' }, user_id);
  const project = caller && (await projectFor(tx, caller, String(project_id)));
  return caller && project ? { caller, project } : undefined;
}

/** Decides about jobs of a project; what several have in common is looked up once. */
function judge(tx: Database, { override_freeze = false }: Starting) {
  const known = new Map<string, Promise<unknown>>();
  const once = <T>(key: string, look: () => Promise<T>): Promise<T> => {
    const found = (known.get(key) as Promise<T> | undefined) ?? look();
    known.set(key, found);
    return found;
  };
  return async ({ project_id, user_id, environment: name, deployment }: EnvironmentJob): Promise<Verdict> => {
    const acting = await once(`${user_id}`, () => actingFor(tx, project_id, user_id));
    if (!acting || !deployment) return 'starts';
    const place = { name, tier: deployment.tier };
    const protection = await once(`${user_id} ${name}`, () => protectionFor(tx, acting, place));
    if (!protection.may_deploy) return 'protected';
    const { approval_rules } = protection;
    if (approval_rules.length > 0 && missing(approval_rules, await approvalsOf(tx, deployment.id)) > 0)
      return 'blocked';
    const { freeze, text, is_overridden } = await once(`freeze ${user_id}`, () =>
      freezeNow(tx, { ...acting, override_freeze }),
    );
    if (freeze === 'refuses') return { frozen: text };
    if (is_overridden) return 'starts_overriding';
    return freeze === 'marks' ? 'starts_frozen' : 'starts';
  };
}

/** @throws ApiError for the person who starts the job */
function refuseAsked({ deployment }: EnvironmentJob, verdict: Verdict): void {
  if (verdict === 'protected') throw forbidden();
  if (verdict === 'blocked' && deployment?.status === 'blocked') throw badRequest(unplayableText);
  if (typeof verdict === 'object') throw forbidden(verdict.frozen);
}

/**
 * The jobs that may become available to runners. Others fail, or wait for a person: those that need approvals, and those that a freeze stops.
 * @param ids of jobs of one project
 * @throws ApiError if a person starts a job that they may not start now
 */
export async function admitted(tx: Database, ids: readonly number[], starting: Starting = {}): Promise<number[]> {
  const jobs = (await environmentJobs(tx, amongIds(ids))).filter(deploys);
  if (jobs.length === 0) return [...ids];
  const refused = new Set<number>();
  const refuse = (which: readonly EnvironmentJob[]) => {
    for (const { id } of which) refused.add(id);
    return which.map(({ id }) => id);
  };
  const [fit, unfit] = [jobs.filter(isFit), jobs.filter((job) => !isFit(job))];
  const lacking = fit.filter(({ deployment }) => deployment === null);
  const areAdded = lacking.length === 0 || (await addDeployments(tx, lacking));
  await fail(tx, refuse(areAdded ? unfit : [...unfit, ...lacking]), 'environment_creation_failure');
  const known =
    areAdded && lacking.length > 0
      ? (await environmentJobs(tx, amongIds(ids))).filter(deploys)
      : jobs.filter(({ deployment }) => deployment !== null);
  const decide = judge(tx, starting);
  const verdicts: { job: EnvironmentJob; verdict: Verdict }[] = [];
  for (const job of known) {
    const verdict = await decide(job);
    if (isAsked(starting)) refuseAsked(job, verdict);
    verdicts.push({ job, verdict });
  }
  const those = (which: (verdict: Verdict) => boolean) =>
    verdicts.flatMap(({ job, verdict }) => (which(verdict) ? [job] : []));
  const deployments = (of: readonly EnvironmentJob[]) => of.flatMap(({ deployment }) => deployment?.id ?? []);
  await fail(tx, refuse(those((verdict) => verdict === 'protected')), 'protected_environment_failure');
  const blocked = those((verdict) => verdict === 'blocked');
  await setStatuses(
    tx,
    deployments(blocked).map((id) => ({ id, status: 'blocked' })),
  );
  await hold(tx, refuse(blocked));
  const frozen = verdicts.flatMap(({ job, verdict }) => (typeof verdict === 'object' ? [{ job, ...verdict }] : []));
  await hold(tx, refuse(frozen.map(({ job }) => job)));
  await noteInLogs(
    tx,
    frozen.map(({ job, frozen: text }) => ({ job_id: job.id, line: `${text}. Start this job afterwards.` })),
  );
  const overriding = those((verdict) => verdict === 'starts_overriding');
  for (const { project_id, environment } of overriding) await auditOverride(tx, { id: project_id }, environment);
  await markFrozen(tx, deployments([...overriding, ...those((verdict) => verdict === 'starts_frozen')]));
  return ids.filter((id) => !refused.has(id));
}

const followed: Readonly<Record<State, DeploymentStatus>> = {
  created: 'created',
  waiting_for_resource: 'created',
  preparing: 'created',
  scheduled: 'created',
  manual: 'created',
  pending: 'created',
  running: 'running',
  canceling: 'running',
  success: 'success',
  failed: 'failed',
  canceled: 'canceled',
  skipped: 'skipped',
};

/**
 * Lets deployments and environments follow their jobs.
 * @param tx the transaction in which the jobs were changed
 */
export async function followJobs(tx: Database, ids: readonly number[]): Promise<void> {
  const jobs = await environmentJobs(tx, amongIds(ids));
  const changes = jobs.flatMap(({ status, deployment }): StatusChange[] => {
    const after = followed[status];
    if (deployment === null || deployment.status === after) return [];
    return deployment.status === 'blocked' && after === 'created' ? [] : [{ id: deployment.id, status: after }];
  });
  await setStatuses(tx, changes);
  const stops = jobs.flatMap(({ status, declared, environment_id }) =>
    declared.action === 'stop' && environment_id !== null && ['success', 'failed', 'canceled'].includes(status)
      ? [{ environment_id, has_stopped: status === 'success' }]
      : [],
  );
  await concludeStops(tx, stops);
}

/**
 * Makes the environment of a job available that has succeeded, and what the job says of it.
 * @param tx the transaction of the success
 */
export async function renewEnvironmentOf(tx: Database, job_id: number, outcome: Partial<Outcome> = {}): Promise<void> {
  const { url, auto_stop_in_s } = outcome;
  const [job] = await environmentJobs(tx, amongIds([job_id]));
  if (!job || job.environment_id === null) return;
  const { action } = job.declared;
  if (action === 'start' || (action !== 'stop' && auto_stop_in_s !== undefined))
    await renewEnvironment(tx, job.environment_id, { url, auto_stop_in_s });
}

/** Whether a job would deploy something older than what its environment is at. Who tries a job again that has deployed wants to go back, where the project allows it. */
export async function isOutdated(db: Database, job_id: number): Promise<boolean> {
  const { rows } = await sql`
    select from deployments own join commit_statuses job on job.id = own.job_id
                join projects on projects.id = own.project_id and ci_forward_deployment_enabled,
         lateral (select id, job_id, sha from deployments where environment_id = own.environment_id and status = 'success'
                   order by finished_at desc, id desc limit 1) last
         left join commit_statuses last_job on last_job.id = last.job_id
     where own.job_id = ${job_id} and last.sha <> own.sha and coalesce(last_job.pipeline_id > job.pipeline_id, last.id > own.id)
       and not (ci_forward_deployment_rollback_allowed and exists (
         select from commit_statuses before
          where before.pipeline_id = job.pipeline_id and before.name = job.name and before.retried and before.status = 'success'))`.execute(
    db,
  );
  return rows.length > 0;
}
