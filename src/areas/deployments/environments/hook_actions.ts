/** Webhook events for deployments (docs/reference/hooks.md#events). */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { commitKind, jobPage, userPage } from '../../../access/index.ts';
import { type Database, isAmong, momentInJson, plainColumns, rowInJson } from '../../../db/index.ts';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import {
  HookPerson,
  HookProject,
  oneCommit,
  personRow,
  presentPerson,
  presentProject,
  projectRow,
  type Sample,
  sampled,
} from '../../activity/hooks/index.ts';
import { hookEvent, newsInProjects, type Refs, tellEach } from '../../instance/hook_events/index.ts';

export const deploymentEvent = hookEvent({
  name: 'deployment',
  summary: 'A deployment was recorded, or its status has changed',
  triggers: ['deployment_events'],
  snapshot: (news: Refs<{ id: number; project_id: number; user_id: number | null }>) => ({
    project: projectRow(news.project_id),
    user: personRow(news.user_id),
    deployment: rowInJson(
      'deployments',
      news.id,
      {
        ...plainColumns('deployments', ['id', 'status', 'sha', 'ref', 'job_id']),
        ...plainColumns('environments', ['name', 'tier', 'slug', 'external_url']),
        updated_at: momentInJson('deployments.updated_at'),
      },
      sql`join environments on environments.id = deployments.environment_id`,
    ),
  }),
  body: resource('DeploymentHookBody', {
    object_kind: Type.Literal('deployment'),
    status: Type.String(),
    status_changed_at: Timestamp,
    deployment_id: Id,
    deployable_id: nullable(Id),
    deployable_url: nullable(Type.String({ format: 'uri' })),
    environment: Type.String(),
    environment_tier: Type.String(),
    environment_slug: Type.String(),
    environment_external_url: nullable(Type.String()),
    project: HookProject,
    short_sha: Type.String(),
    user: nullable(HookPerson),
    user_url: nullable(Type.String({ format: 'uri' })),
    commit_url: Type.String({ format: 'uri' }),
    commit_title: nullable(Type.String()),
    ref: Type.String(),
  }),
}).presentedBy(async ({ project, user, deployment: { status, ref, sha, ...deployment } }, services) => ({
  object_kind: 'deployment',
  status,
  status_changed_at: deployment.updated_at,
  deployment_id: deployment.id,
  deployable_id: deployment.job_id,
  deployable_url: deployment.job_id === null ? null : services.url + jobPage(project.full_path, deployment.job_id),
  environment: deployment.name,
  environment_tier: deployment.tier,
  environment_slug: deployment.slug,
  environment_external_url: deployment.external_url,
  project: presentProject(project, services),
  short_sha: sha.slice(0, 8),
  user: user && presentPerson(user, services),
  user_url: user && services.url + userPage(user.username),
  commit_url: services.url + commitKind.page(project.full_path, sha),
  commit_title: (await oneCommit(services, project, sha))?.title ?? null,
  ref,
}));

/** @param which a predicate on rows of `deployments`, and what may follow it */
const rowsOf = (which: RawBuilder<unknown>) =>
  newsInProjects('deployments', plainColumns('deployments', ['user_id']), which);

/** @param tx the transaction in which the statuses of deployments changed */
export const tellOfDeployments = (tx: Database, ids: readonly number[]): Promise<void> =>
  tellEach(tx, deploymentEvent, rowsOf(isAmong('deployments.id', ids, 'bigint[]')));

/** The newest deployment of a project. */
export const sampleDeployment: Sample = async (_services, { project_id }) =>
  sampled(deploymentEvent, rowsOf(sql`deployments.project_id = ${project_id} order by deployments.id desc`));
