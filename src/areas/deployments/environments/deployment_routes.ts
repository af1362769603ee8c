/** Deployments: what was deployed to an environment and when, as external systems record it (docs/reference/environments.md#deployments). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { Type } from 'typebox';
import {
  allOptional,
  checked,
  Direction,
  del,
  get,
  Id,
  nothing,
  one,
  optional,
  pageOf,
  post,
  put,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { tooLong } from '../../../texts/index.ts';
import { environmentsMaintainer, environmentsReader, environmentsWriter } from './access.ts';
import { approvalTexts, approveDeployment } from './approval_actions.ts';
import { presentApproval } from './approval_queries.ts';
import {
  approvalText,
  changeDeployment,
  destroyTexts,
  endlessFreezeText,
  freezeText,
  recordDeployment,
  removeDeployment,
  unknownCommit,
  unknownRef,
} from './deployment_actions.ts';
import { type Deployables, Deployment, DeploymentApproval, DeploymentDetails, presentDeployment } from './present.ts';
import { deploymentReply, deploymentsOf } from './queries.ts';
import { deploymentStatuses, nameReasons, recordedStatuses, tooManyText, transitionTexts } from './rules.ts';

const path = '/projects/:id/deployments';
const single = { deployment_id: Id };

const orders = ['id', 'iid', 'created_at', 'updated_at', 'finished_at', 'ref'] as const;
const Moment = Type.String({ format: 'date-time' });
const filters = allOptional({
  updated_after: Moment,
  updated_before: Moment,
  finished_after: Moment,
  finished_before: Moment,
  environment: Type.String({ description: 'Of the environment of this name' }),
  status: Type.Enum(deploymentStatuses),
});

interface Filters {
  updated_after?: string;
  updated_before?: string;
  finished_after?: string;
  finished_before?: string;
  environment?: string;
  status?: string;
}

function matching(project_id: number, given: Filters): RawBuilder<SqlBool> {
  const { updated_after, updated_before, finished_after, finished_before, environment, status } = given;
  const predicates = [
    sql`true`,
    ...(updated_after ? [sql`deployments.updated_at > ${updated_after}`] : []),
    ...(updated_before ? [sql`deployments.updated_at < ${updated_before}`] : []),
    ...(finished_after ? [sql`deployments.finished_at > ${finished_after}`] : []),
    ...(finished_before ? [sql`deployments.finished_at < ${finished_before}`] : []),
    ...(status ? [sql`deployments.status = ${status}`] : []),
    ...(environment === undefined
      ? []
      : [
          sql`deployments.environment_id = (select id from environments where project_id = ${project_id} and name = ${environment})`,
        ]),
  ];
  return sql<SqlBool>`${sql.join(predicates, sql` and `)}`;
}

const override = {
  override_freeze: Type.Boolean({
    default: false,
    description: 'Whether to deploy during a freeze that refuses deployments; only for Maintainers',
  }),
};
const frozen = [`403 Forbidden - ${freezeText('<time>')}`, `403 Forbidden - ${endlessFreezeText}`];

/** @param deployables finds the jobs of deployments */
export const deploymentRoutes = (deployables: Deployables) => [
  get(path, {
    operation: 'listDeployments',
    summary: 'List the deployments of a project, oldest first',
    access: environmentsReader,
    input: {
      order_by: Type.Enum(orders, { default: 'id' }),
      sort: optional(Direction),
      ...filters,
      ...paging,
    },
    returns: pageOf(Deployment),
    handle: async ({ project, input, ...services }) => {
      const { db, url } = services;
      const { order_by, sort = 'asc' } = input;
      const query = deploymentsOf(db, project.id)
        .where(matching(project.id, input))
        .orderBy(`deployments.${order_by}`, sort)
        .orderBy('deployments.id', sort);
      const page = await paginate(db, query, input);
      const jobs = await deployables(
        services,
        project,
        page.items.flatMap(({ job_id }) => job_id ?? []),
      );
      return mapPage(page, (row) => presentDeployment(url, row, jobs));
    },
  }),
  get(`${path}/:deployment_id`, {
    operation: 'getDeployment',
    summary: 'Get a deployment',
    access: environmentsReader,
    input: single,
    returns: one(DeploymentDetails),
    handle: ({ project, input, ...services }) =>
      deploymentReply(services, { project, deployables }, input.deployment_id),
  }),
  post(path, {
    operation: 'createDeployment',
    summary: 'Record a deployment',
    description: 'An environment that does not exist is created. One that was stopped becomes available.',
    access: environmentsWriter,
    input: {
      environment: checked(Type.String({ description: 'The name of the environment' }), nameReasons),
      sha: Type.String({ description: 'The commit that is deployed: its ID, or a branch or tag' }),
      ref: Type.String({ description: 'The branch or tag that is deployed' }),
      tag: Type.Boolean({ description: 'Whether `ref` is a tag' }),
      status: Type.Enum(recordedStatuses),
      ...override,
    },
    returns: one(DeploymentDetails),
    refusals: {
      400: [`sha: ${unknownCommit}`, `ref: ${unknownRef}`, `base: ${tooManyText}`, approvalText],
      403: frozen,
    },
    handle: async ({ caller, project, input: { override_freeze, ...deployment }, ...services }) => {
      const id = await recordDeployment(services, { caller, project, override_freeze }, deployment);
      return deploymentReply(services, { project, deployables }, id);
    },
  }),
  put(`${path}/:deployment_id`, {
    operation: 'updateDeployment',
    summary: 'Change the status of a deployment',
    description: 'The deployment of a job follows its job: 403.',
    access: environmentsWriter,
    input: { ...single, status: Type.Enum(recordedStatuses), ...override },
    returns: one(DeploymentDetails),
    refusals: { 400: [...transitionTexts, approvalText], 403: frozen },
    handle: async ({ caller, project, input, ...services }) => {
      const { deployment_id: id, status, override_freeze } = input;
      await changeDeployment(services.db, { caller, project, override_freeze }, { id, status });
      return deploymentReply(services, { project, deployables }, id);
    },
  }),
  post(`${path}/:deployment_id/approval`, {
    operation: 'approveDeployment',
    summary: 'Approve or reject a deployment that waits for approvals',
    access: environmentsReader,
    plan: 'premium',
    input: {
      ...single,
      status: Type.Enum(['approved', 'rejected']),
      comment: optional(checked(Type.String(), (text) => tooLong(text, 255))),
      represented_as: optional(
        Type.String({ description: 'The user, group or role of the rule that the approval counts for' }),
      ),
      ...override,
    },
    returns: one(DeploymentApproval),
    refusals: { 400: Object.values(approvalTexts), 403: frozen },
    handle: async ({ caller, project, input, ...services }) => {
      const { deployment_id: id, override_freeze, ...approval } = input;
      const approved = await approveDeployment(services.db, { caller, project, override_freeze }, id, approval);
      return presentApproval(services.url, approved);
    },
  }),
  del(`${path}/:deployment_id`, {
    operation: 'deleteDeployment',
    summary: 'Delete a deployment that is neither running nor what its environment is at',
    access: environmentsMaintainer,
    input: single,
    returns: nothing,
    refusals: { 400: Object.values(destroyTexts) },
    handle: ({ db, caller, project, input }) => removeDeployment(db, { caller, project }, input.deployment_id),
  }),
];
