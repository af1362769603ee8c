/** The merge requests of a deployment (docs/reference/environments.md#merge-requests). */
import { sql } from 'kysely';
import { mayUse, mergeRequestKind } from '../../../../access/index.ts';
import { forbidden, get, Id, pageOf } from '../../../../http/index.ts';
import { paging } from '../../../../lists/index.ts';
import { deploymentIn, environmentsReader } from '../../../deployments/environments/index.ts';
import { among } from '../../issuables/filters.ts';
import { listFilters, listRules, numbered } from '../lists/parameters.ts';
import { listMergeRequests } from '../lists/queries.ts';
import { MergeRequestInList } from '../present.ts';

export const deploymentMergeRequestRoutes = [
  get('/projects/:id/deployments/:deployment_id/merge_requests', {
    operation: 'listMergeRequestsOfDeployment',
    summary: 'List the merge requests that a deployment brought to its environment first, newest first',
    access: environmentsReader,
    input: { deployment_id: Id, ...paging, ...numbered, ...listFilters },
    rules: listRules,
    returns: pageOf(MergeRequestInList),
    handle: async ({ caller, project, plan, input, ...services }) => {
      if (!mayUse(project, 'merge_requests')) throw forbidden();
      const { id } = await deploymentIn(services.db, project.id, input.deployment_id);
      const ids = sql`select merge_request_id from deployment_merge_requests where deployment_id = ${id}`;
      const only = among(mergeRequestKind, ids);
      return listMergeRequests(services, { caller, plan, scope: { project }, filters: input, only }, input);
    },
  }),
];
