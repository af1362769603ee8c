/** Queries for environments and deployments. */
import { sql } from 'kysely';
import type { Static } from 'typebox';
import type { Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found, type Services } from '../../../http/index.ts';
import { approvalMembers } from './approval_queries.ts';
import {
  type Deployables,
  type DeploymentDetails,
  type DeploymentRow,
  type Environment,
  type EnvironmentRow,
  environmentColumns,
  environmentOfDeployment,
  presentDeployment,
  presentDeploymentDetails,
  userOfDeployment,
} from './present.ts';

/** The environments of a project. */
export const environmentsOf = (db: Database, project_id: number) =>
  db
    .selectFrom('environments')
    .select(environmentColumns)
    .select((q) => [
      q.ref('environments.tier').$castTo<EnvironmentRow['tier']>().as('tier'),
      q.ref('environments.state').$castTo<EnvironmentRow['state']>().as('state'),
    ])
    .where('environments.project_id', '=', project_id);

/** The deployments of a project. */
export const deploymentsOf = (db: Database, project_id: number) =>
  db
    .selectFrom('deployments')
    .select([
      'deployments.id',
      'deployments.iid',
      'deployments.ref',
      'deployments.sha',
      'deployments.created_at',
      'deployments.updated_at',
      'deployments.finished_at',
      'deployments.during_freeze',
      'deployments.job_id',
    ])
    .select((q) => q.ref('deployments.status').$castTo<DeploymentRow['status']>().as('status'))
    .select([environmentOfDeployment.as('environment'), userOfDeployment.as('user')])
    .where('deployments.project_id', '=', project_id);

/** The id of the current deployment of an environment: the last successful one. */
export const currentDeployment = (db: Database, environment_id: number) =>
  db
    .selectFrom('deployments')
    .select(['id', 'sha'])
    .where('environment_id', '=', environment_id)
    .where('status', '=', 'success')
    .orderBy('finished_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1);

type Reading = Pick<Services, 'db' | 'storages' | 'url'>;

/** Whose environments are shown, and how their jobs are found. */
interface Shown {
  project: Project;
  deployables: Deployables;
}

/**
 * An environment as a reply.
 * @throws ApiError 404
 */
export async function environmentReply(
  services: Reading,
  { project, deployables }: Shown,
  id: number,
): Promise<Static<typeof Environment>> {
  const { db, url } = services;
  const row = found(
    undefined,
    await environmentsOf(db, project.id).where('environments.id', '=', id).executeTakeFirst(),
  );
  const last = await deploymentsOf(db, project.id)
    .where('deployments.id', '=', currentDeployment(db, id).clearSelect().select('id'))
    .executeTakeFirst();
  if (!last) return { ...row, last_deployment: null };
  const jobs = await deployables(services, project, last.job_id === null ? [] : [last.job_id]);
  return { ...row, last_deployment: presentDeployment(url, last, jobs) };
}

/**
 * A deployment as a reply.
 * @throws ApiError 404
 */
export async function deploymentReply(
  services: Reading,
  { project, deployables }: Shown,
  id: number,
): Promise<Static<typeof DeploymentDetails>> {
  const { db, url } = services;
  const row = await deploymentsOf(db, project.id)
    .innerJoin('environments', 'environments.id', 'deployments.environment_id')
    .select(['environments.name', 'environments.tier', 'deployments.made_as_name', 'deployments.made_as_tier'])
    .where('deployments.id', '=', id)
    .executeTakeFirst();
  const { name, tier, made_as_name, made_as_tier, ...deployment } = found(undefined, row);
  const place = { project_id: project.id, name, tier, made_as_name, made_as_tier };
  const approvals = await approvalMembers(db, url, { id, status: deployment.status, ...place });
  const jobs = await deployables(services, project, deployment.job_id === null ? [] : [deployment.job_id]);
  return presentDeploymentDetails(url, deployment, approvals, jobs);
}

/**
 * The row of a deployment. The caller must have been granted access to the project.
 * @throws ApiError 404
 */
export async function deploymentIn(db: Database, project_id: number, id: number): Promise<{ id: number }> {
  const query = db.selectFrom('deployments').select('id').where('project_id', '=', project_id).where('id', '=', id);
  return found(undefined, await query.executeTakeFirst());
}

/** A predicate on rows of `environments`: neither deployed to nor changed since the given time. */
export const isStale = (before: string) => sql<boolean>`
  environments.updated_at < ${before} and not exists (
    select from deployments where deployments.environment_id = environments.id and deployments.created_at >= ${before})`;
