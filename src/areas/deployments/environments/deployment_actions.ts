/** Records the deployments of external systems, and writes the statuses of all. */
import { sql } from 'kysely';
import { levels, type Project } from '../../../access/index.ts';
import { type Database, nextIid, stamped } from '../../../db/index.ts';
import { repositoryOf, resolveBranch, resolveCommit, resolveTag } from '../../../git/index.ts';
import { badRequest, deleteFound, forbidden, found, Id, invalid, type Services } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { audit } from '../../instance/audit_events/index.ts';
import { freezeStateOf } from '../freeze_periods/queries.ts';
import { addEnvironments, type LockedEnvironment } from './actions.ts';
import { type Acting, approvalsOf, missing, protectionFor, refuseUnnamed } from './approval_queries.ts';
import { type Freeze, isFinal, outcomeOf, type Situation } from './deployment_rules.ts';
import { tellOfDeployments } from './hook_actions.ts';
import { currentDeployment } from './queries.ts';
import { type DeploymentStatus, type RecordedStatus, transitionReason } from './rules.ts';

const retries = 10;

/** Effects of a deployment on repositories and merge requests. A higher area runs the job. */
export const followDeployment = queueOf('follow_deployment', { input: { deployment_id: Id }, retries });

export const freezeText = (until: string) => `The project is in a deploy freeze until ${until}`;
export const endlessFreezeText = 'The project is in a deploy freeze without an end';
export const destroyTexts = {
  running: 'Cannot destroy running deployment',
  current: 'Deployment currently deployed to environment',
};
export const approvalText = 'The environment needs approvals';
export const unknownCommit = 'The commit does not exist';
export const unknownRef = 'The branch or tag does not exist';

export interface Recording extends Acting {
  override_freeze: boolean;
}

/** What the freeze of the project does to a deployment that begins now, and the text with which it refuses. */
export async function freezeNow(
  db: Database,
  { project, override_freeze }: { project: Pick<Project, 'id' | 'access_level'>; override_freeze: boolean },
): Promise<{ freeze: Freeze; text: string; is_overridden: boolean }> {
  const { frozen, changes_at } = await freezeStateOf(db, project.id);
  const text = changes_at ? freezeText(changes_at.toISOString()) : endlessFreezeText;
  if (!frozen) return { freeze: 'none', text, is_overridden: false };
  const { deployment_freeze } = await db
    .selectFrom('projects')
    .select('deployment_freeze')
    .where('id', '=', project.id)
    .executeTakeFirstOrThrow();
  const refuses = deployment_freeze === 'refuse';
  const is_overridden = refuses && override_freeze && project.access_level >= levels.maintainer;
  return { freeze: refuses && !is_overridden ? 'refuses' : 'marks', text, is_overridden };
}

/** Writes that somebody has deployed although a freeze refuses it. @param tx the transaction in which the deployment begins */
export const auditOverride = (tx: Database, project: Pick<Project, 'id'>, environment: string): Promise<void> =>
  audit(tx, {
    event_name: 'freeze_overridden',
    entity: { type: 'Project', id: project.id },
    target: { type: 'Environment', details: environment },
    details: { custom_message: 'Deployed during a freeze' },
  });

/**
 * What a deployment becomes.
 * @throws ApiError 403 if the environment is protected against the caller or the project is frozen, 400 if approvals are missing or the status cannot follow the present one
 */
export async function decided(
  tx: Database,
  recording: Recording,
  environment: string,
  situation: Omit<Situation, 'freeze'>,
): Promise<{ status: DeploymentStatus; during_freeze: boolean }> {
  const { freeze, text, is_overridden } = await freezeNow(tx, recording);
  const outcome = outcomeOf({ ...situation, freeze });
  if (!('refused' in outcome)) {
    if (is_overridden && outcome.during_freeze) await auditOverride(tx, recording.project, environment);
    return outcome;
  }
  switch (outcome.refused) {
    case 'protected':
      throw forbidden();
    case 'transition':
      throw invalid({ status: [transitionReason(situation.from!, situation.to)!] });
    case 'approvals':
      throw badRequest(approvalText);
    case 'freeze':
      throw forbidden(text);
  }
}

/** What a deployment becomes. */
export interface StatusChange {
  id: number;
  status: DeploymentStatus;
  during_freeze?: boolean;
}

/**
 * Writes the statuses of deployments, and enqueues what follows.
 * @param tx a transaction that has locked them, or the jobs that they follow
 */
export async function setStatuses(tx: Database, changes: readonly StatusChange[]): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map((change) => ({ ...change, is_final: isFinal(change.status) }));
  await sql`
    update deployments
       set status = given.status, updated_at = now(), finished_at = case when is_final then now() end,
           during_freeze = deployments.during_freeze or coalesce(given.during_freeze, false)
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) given(id bigint, status text, during_freeze boolean, is_final boolean)
     where deployments.id = given.id`.execute(tx);
  await follow(
    tx,
    changes.map(({ id }) => id),
  );
}

/** @throws ApiError 400 with the reasons by field */
async function checkedCommit(
  services: Pick<Services, 'storages'>,
  project: Project,
  { sha, ref, tag }: { sha: string; ref: string; tag: boolean },
): Promise<string> {
  const repository = repositoryOf(services, project);
  const [commit, named] = await Promise.all([
    resolveCommit(repository, sha),
    tag ? resolveTag(repository, ref) : resolveBranch(repository, ref),
  ]);
  const reasons = {
    ...(commit === undefined ? { sha: [unknownCommit] } : {}),
    ...(named === undefined ? { ref: [unknownRef] } : {}),
  };
  if (commit === undefined || named === undefined) throw invalid(reasons);
  return commit;
}

/** The environment with a name, locked until the transaction ends; it is created if missing. */
async function environmentNamed(tx: Database, project_id: number, name: string): Promise<LockedEnvironment> {
  const query = tx
    .selectFrom('environments')
    .select(['id', 'name', 'tier', 'state'])
    .where('project_id', '=', project_id)
    .where('name', '=', name)
    .forUpdate();
  const there = await query.executeTakeFirst();
  if (there) return there;
  await addEnvironments(tx, project_id, [{ name }]);
  return query.executeTakeFirstOrThrow();
}

/** Restarts a stopped environment, and extends its auto-stop time. */
async function revive(tx: Database, environment_id: number): Promise<void> {
  await tx
    .updateTable('environments')
    .set(
      stamped({
        state: 'available',
        auto_delete_at: null,
        auto_stop_at: sql<string | null>`now() + auto_stop_in_s * interval '1 second'`,
      }),
    )
    .where('id', '=', environment_id)
    .execute();
}

export interface NewDeployment {
  environment: string;
  sha: string;
  ref: string;
  tag: boolean;
  status: RecordedStatus;
}

/**
 * Records a deployment.
 * @returns its id
 * @throws ApiError 400 with the reasons by field, and those of `decided`
 */
export async function recordDeployment(
  services: Pick<Services, 'db' | 'storages'>,
  recording: Recording,
  { environment: name, status: to, ...given }: NewDeployment,
): Promise<number> {
  const { project, caller } = recording;
  const sha = await checkedCommit(services, project, given);
  return services.db.transaction().execute(async (tx) => {
    const environment = await environmentNamed(tx, project.id, name);
    const { may_deploy, approval_rules } = await protectionFor(tx, recording, environment);
    const missing_approvals = missing(approval_rules, []);
    const { status, during_freeze } = await decided(tx, recording, name, {
      from: undefined,
      to,
      may_deploy,
      missing_approvals,
    });
    await revive(tx, environment.id);
    const { id } = await tx
      .insertInto('deployments')
      .values({
        ...given,
        sha,
        status,
        during_freeze,
        project_id: project.id,
        environment_id: environment.id,
        user_id: caller.id,
        made_as_name: environment.name,
        made_as_tier: environment.tier,
        iid: await nextIid(tx, { project_id: project.id }, 'deployments'),
        finished_at: isFinal(status) ? sql<string>`now()` : null,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await follow(tx, [id]);
    return id;
  });
}

/** Enqueues the effects of new deployments or status changes. */
async function follow(tx: Database, ids: readonly number[]): Promise<void> {
  await tellOfDeployments(tx, ids);
  await followDeployment.enqueueEach(
    tx,
    ids.map((deployment_id) => ({ deployment_id })),
  );
}

/** A deployment with its environment locked, which serialises concurrent changes in the environment. */
export async function lockedDeployment(tx: Database, project_id: number, id: number) {
  const query = tx
    .selectFrom('deployments')
    .innerJoin('environments', 'environments.id', 'deployments.environment_id')
    .select([
      'deployments.id',
      'deployments.environment_id',
      'deployments.user_id',
      'deployments.job_id',
      'environments.name',
      'environments.tier',
      'deployments.made_as_name',
      'deployments.made_as_tier',
    ])
    .select((q) => q.ref('deployments.status').$castTo<DeploymentStatus>().as('status'))
    .where('deployments.project_id', '=', project_id)
    .where('deployments.id', '=', id)
    .forUpdate();
  return found(undefined, await query.executeTakeFirst());
}

/**
 * Changes the status of a deployment.
 * @throws ApiError 404, 403 for a deployment of a job, and those of `decided`
 */
export function changeDeployment(
  db: Database,
  recording: Recording,
  { id, status }: { id: number; status: RecordedStatus },
): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const before = await lockedDeployment(tx, recording.project.id, id);
    // It follows its job.
    if (before.job_id !== null) throw forbidden();
    const { may_deploy, approval_rules } = await protectionFor(tx, recording, before);
    const missing_approvals = missing(approval_rules, await approvalsOf(tx, id));
    const situation = { from: before.status, to: status, may_deploy, missing_approvals };
    await setStatuses(tx, [{ id, ...(await decided(tx, recording, before.name, situation)) }]);
  });
}

/**
 * Deletes a deployment.
 * @throws ApiError 404, 400 if it is running or is the current deployment of its environment
 */
export function removeDeployment(db: Database, acting: Acting, id: number): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const { status, environment_id, ...environment } = await lockedDeployment(tx, acting.project.id, id);
    await refuseUnnamed(tx, acting, environment);
    if (status === 'running') throw badRequest(destroyTexts.running);
    const current = await currentDeployment(tx, environment_id).executeTakeFirst();
    if (current?.id === id) throw badRequest(destroyTexts.current);
    await deleteFound(tx, 'deployments', id);
  });
}
