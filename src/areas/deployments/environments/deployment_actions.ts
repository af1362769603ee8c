/** Records the deployments of external systems. */
import { sql } from 'kysely';
import { levels, type Project } from '../../../access/index.ts';
import { type Database, nextIid, stamped } from '../../../db/index.ts';
import { repositoryOf, resolveBranch, resolveCommit, resolveTag } from '../../../git/index.ts';
import { badRequest, deleteFound, forbidden, found, Id, invalid, type Services } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { freezeStateOf } from '../freeze_periods/queries.ts';
import { addEnvironment, type LockedEnvironment } from './actions.ts';
import { type Acting, approvalsOf, missing, refuseUnnamed } from './approval_queries.ts';
import { tellOfDeployment } from './hook_actions.ts';
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

interface Recording extends Acting {
  override_freeze: boolean;
}

/**
 * Whether the project is frozen now.
 * @throws ApiError 403 if it refuses deployments during a freeze, and the caller does not or may not override it
 */
async function isDuringFreeze(db: Database, { project, override_freeze }: Recording): Promise<boolean> {
  const { frozen, changes_at } = await freezeStateOf(db, project.id);
  if (!frozen) return false;
  const { deployment_freeze } = await db
    .selectFrom('projects')
    .select('deployment_freeze')
    .where('id', '=', project.id)
    .executeTakeFirstOrThrow();
  const isOverridden = override_freeze && project.access_level >= levels.maintainer;
  if (deployment_freeze === 'refuse' && !isOverridden)
    throw forbidden(changes_at ? freezeText(changes_at.toISOString()) : endlessFreezeText);
  return true;
}

const isBeginning = (status: RecordedStatus) => status === 'running' || status === 'success';
const isFinal = (status: string) => status === 'success' || status === 'failed' || status === 'canceled';

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
  await addEnvironment(tx, project_id, { name });
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
 * @throws ApiError 400 with the reasons by field, 403 during a freeze
 */
export async function recordDeployment(
  services: Pick<Services, 'db' | 'storages'>,
  recording: Recording,
  { environment: name, status: given_status, ...given }: NewDeployment,
): Promise<number> {
  const { project, caller } = recording;
  const sha = await checkedCommit(services, project, given);
  const during_freeze = isBeginning(given_status) && (await isDuringFreeze(services.db, recording));
  return services.db.transaction().execute(async (tx) => {
    const environment = await environmentNamed(tx, project.id, name);
    const approving = await refuseUnnamed(tx, recording, environment);
    if (approving.length > 0 && given_status === 'success') throw badRequest(approvalText);
    const status = approving.length > 0 && given_status === 'running' ? 'blocked' : given_status;
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
    await follow(tx, id);
    return id;
  });
}

/** Enqueues the effects of a new deployment or a status change. */
export async function follow(tx: Database, deployment_id: number): Promise<void> {
  await tellOfDeployment(tx, deployment_id);
  await followDeployment.enqueue(tx, { deployment_id });
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
 * @throws ApiError 404, 400 if the transition is not allowed, 403 during a freeze if it had ended without success
 */
export function changeDeployment(
  db: Database,
  recording: Recording,
  { id, status }: { id: number; status: RecordedStatus },
): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const before = await lockedDeployment(tx, recording.project.id, id);
    const rules = await refuseUnnamed(tx, recording, before);
    const reason = transitionReason(before.status, status);
    if (reason !== undefined) throw invalid({ status: [reason] });
    // A deployment that started before a freeze or was approved may finish; a rejected or failed one counts as a new deployment.
    const beginsAnew = isFinal(before.status) && status === 'success';
    const needsApprovals = beginsAnew || (before.status === 'blocked' && isBeginning(status));
    if (needsApprovals && missing(rules, await approvalsOf(tx, id)) > 0) throw badRequest(approvalText);
    const during_freeze = beginsAnew && (await isDuringFreeze(tx, recording));
    await tx
      .updateTable('deployments')
      .set(
        stamped({
          status,
          finished_at: isFinal(status) ? sql<string>`now()` : null,
          ...(during_freeze ? { during_freeze } : {}),
        }),
      )
      .where('id', '=', id)
      .execute();
    await follow(tx, id);
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
