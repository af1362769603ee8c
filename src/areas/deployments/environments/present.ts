/** How environments and deployments appear in replies (docs/reference/environments.md). */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Project } from '../../../access/index.ts';
import { momentInJson } from '../../../db/index.ts';
import { pagePath } from '../../../foundation/addresses.ts';
import { Id, nullable, resource, type Services, Timestamp } from '../../../http/index.ts';
import { ProjectIdentity } from '../../people/namespaces/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow, userBasicJson } from '../../people/users/index.ts';
import { tiers } from '../protected_environments/rules.ts';
import { deploymentStatuses, environmentStates } from './rules.ts';

export const environmentPage = pagePath('/:project/-/environments/:environment_id');
export const deploymentPage = pagePath('/:project/-/deployments/:deployment_id');

const EnvironmentBasic = Type.Object({
  id: Id,
  name: Type.String(),
  slug: Type.String({ description: 'The name as a part of a host name' }),
  external_url: nullable(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
});

/** A job that deploys, without what it shares with its deployment. */
const Deployable = resource('Deployable', {
  id: Id,
  status: Type.String(),
  stage: Type.String(),
  name: Type.String(),
  ref: Type.String(),
  tag: Type.Boolean(),
  coverage: nullable(Type.Number()),
  allow_failure: Type.Boolean(),
  created_at: Timestamp,
  started_at: nullable(Timestamp),
  finished_at: nullable(Timestamp),
  duration: nullable(Type.Number({ description: 'Seconds' })),
  user: nullable(UserBasic),
  pipeline: Type.Object({
    id: Id,
    iid: Type.Integer(),
    project_id: Id,
    sha: Type.String(),
    ref: Type.String(),
    status: Type.String(),
    source: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
    web_url: Type.String(),
  }),
  web_url: Type.String(),
  project: Type.Object({ ci_job_token_scope_enabled: Type.Boolean() }),
});
export type DeployableJobs = ReadonlyMap<number, Static<typeof Deployable>>;

/** Finds the jobs of deployments that the caller may read. What a job is, is not known here. */
export type Deployables = (
  services: Pick<Services, 'db' | 'storages' | 'url'>,
  project: Project,
  ids: readonly number[],
) => Promise<DeployableJobs>;

const deploymentFields = {
  id: Id,
  iid: Type.Integer(),
  ref: Type.String(),
  sha: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
  status: Type.Enum(deploymentStatuses),
  user: nullable(UserBasic),
  environment: EnvironmentBasic,
  // The job that deploys; null for a deployment that another system reported.
  deployable: nullable(Deployable),
};
export const Deployment = resource('Deployment', deploymentFields);
export const DeploymentApproval = resource('DeploymentApproval', {
  user: nullable(UserBasic),
  status: Type.Enum(['approved', 'rejected']),
  created_at: Timestamp,
  comment: nullable(Type.String()),
});
export const DeploymentDetails = resource('DeploymentDetails', {
  ...deploymentFields,
  pending_approval_count: Type.Integer({ description: 'How many approvals a blocked deployment waits for' }),
  approvals: Type.Array(DeploymentApproval),
  approval_summary: Type.Object({
    rules: Type.Array(
      Type.Object({
        user_id: nullable(Id),
        group_id: nullable(Id),
        access_level: nullable(Type.Integer()),
        access_level_description: Type.String(),
        required_approvals: Type.Integer(),
        deployment_approvals: Type.Array(DeploymentApproval),
      }),
    ),
  }),
  finished_at: nullable(Timestamp),
  during_freeze: Type.Boolean({ description: 'Whether it was recorded while the project was frozen' }),
});

const environmentFields = {
  id: Id,
  name: Type.String(),
  slug: Type.String({ description: 'The name as a part of a host name' }),
  description: nullable(Type.String()),
  external_url: nullable(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
  tier: Type.Enum(tiers),
  state: Type.Enum(environmentStates),
  auto_stop_at: nullable(Timestamp),
};
export const EnvironmentInList = resource('EnvironmentInList', { ...environmentFields, project: ProjectIdentity });
export const Environment = resource('Environment', {
  ...environmentFields,
  last_deployment: nullable(Deployment),
});

/** The columns of an environment. */
export const environmentColumns = [
  ...(['environments.id', 'environments.name', 'environments.slug', 'environments.description'] as const),
  ...(['environments.external_url', 'environments.created_at', 'environments.updated_at'] as const),
  'environments.auto_stop_at',
] as const;

export interface EnvironmentRow {
  id: number;
  name: string;
  slug: string;
  description: string | null;
  external_url: string | null;
  created_at: string;
  updated_at: string;
  auto_stop_at: string | null;
  tier: (typeof tiers)[number];
  state: (typeof environmentStates)[number];
}

/** The members about approvals in the reply for a deployment. */
type ApprovalMembers = 'pending_approval_count' | 'approvals' | 'approval_summary';

export interface DeploymentRow extends Omit<Static<typeof DeploymentDetails>, 'user' | 'deployable' | ApprovalMembers> {
  user: UserBasicRow | null;
  job_id: number | null;
}

/** The environment of each row of `deployments`, as `EnvironmentBasic`. */
export const environmentOfDeployment: RawBuilder<Static<typeof EnvironmentBasic>> = sql`(
  select json_build_object('id', environments.id, 'name', environments.name, 'slug', environments.slug, 'external_url', environments.external_url,
                           'created_at', ${momentInJson('environments.created_at')}, 'updated_at', ${momentInJson('environments.updated_at')})
    from environments where environments.id = deployments.environment_id)`;

/** The user who recorded each row of `deployments`. */
export const userOfDeployment: RawBuilder<UserBasicRow | null> = sql`(
  select ${userBasicJson('users')} from users where users.id = deployments.user_id)`;

const deployableOf = ({ job_id }: Pick<DeploymentRow, 'job_id'>, jobs: DeployableJobs) =>
  (job_id !== null && jobs.get(job_id)) || null;

export const presentDeployment = (
  url: string,
  { finished_at: _finished, during_freeze: _frozen, job_id, ...row }: DeploymentRow,
  jobs: DeployableJobs,
): Static<typeof Deployment> => ({
  ...row,
  user: row.user && presentUserBasic(url, row.user),
  deployable: deployableOf({ job_id }, jobs),
});

export const presentDeploymentDetails = (
  url: string,
  { job_id, ...row }: DeploymentRow,
  approvals: Pick<Static<typeof DeploymentDetails>, ApprovalMembers>,
  jobs: DeployableJobs,
): Static<typeof DeploymentDetails> => ({
  ...row,
  ...approvals,
  user: row.user && presentUserBasic(url, row.user),
  deployable: deployableOf({ job_id }, jobs),
});
