/** Clusters: Kubernetes clusters that are connected to the whole instance by a certificate. */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import {
  allOptional,
  checkUnmodified,
  del,
  deleteFound,
  found,
  get,
  Id,
  nothing,
  nullable,
  offeredOn,
  one,
  optional,
  pageOf,
  post,
  put,
  refusedAs,
  type Services,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { addCluster, changeCluster } from './actions.ts';
import { ChangedCluster, Cluster, presentCluster } from './present.ts';
import { clustersOf } from './queries.ts';

const required = {
  api_url: refusedAs(
    'is empty',
    Type.String({ pattern: '\\S', description: "URL of the cluster's API, at most 2,048 characters" }),
  ),
  token: Type.String({ description: 'Credential for that API, at most 8,192 characters; it is never shown' }),
};
const platform = {
  ca_cert: nullable(Type.String({ description: 'CA certificates in PEM, for an API with a self-signed certificate' })),
  namespace: nullable(Type.String({ description: 'Only for clusters that are not managed' })),
};
const parameters = {
  enabled: Type.Boolean(),
  managed: Type.Boolean(),
  domain: nullable(Type.String({ description: 'Base domain' })),
  environment_scope: Type.String({ description: 'Environments of the cluster; each scope can have one cluster' }),
  management_project_id: nullable(Id),
};
// Also applied when a cluster is changed, as in the public API: if omitted, it becomes true.
const namespace_per_environment = Type.Boolean({ default: true });

const clusterOf = async ({ db, url }: Pick<Services, 'db' | 'url'>, id: number) =>
  presentCluster(url, found(undefined, await clustersOf(db).where('clusters.id', '=', id).executeTakeFirst()));

export const clusterRoutes = offeredOn(
  ['self-managed'],
  [
    get('/admin/clusters', {
      operation: 'listInstanceClusters',
      summary: 'List the clusters of the instance, oldest first',
      access: admin,
      input: paging,
      returns: pageOf(Cluster),
      deprecated: true,
      handle: async ({ db, url, input }) => {
        const page = await paginate(db, clustersOf(db), input);
        return mapPage(page, (row) => presentCluster(url, row));
      },
    }),
    get('/admin/clusters/:cluster_id', {
      operation: 'getInstanceCluster',
      summary: 'Get a cluster',
      access: admin,
      input: { cluster_id: Id },
      returns: one(Cluster),
      deprecated: true,
      handle: ({ db, url, input }) => clusterOf({ db, url }, input.cluster_id),
    }),
    post('/admin/clusters/add', {
      operation: 'addInstanceCluster',
      summary: 'Add an existing cluster',
      access: admin,
      input: {
        name: Type.String(),
        platform_kubernetes_attributes: Type.Object({
          ...required,
          ...allOptional(platform),
          // If omitted, the column defaults to rbac.
          authorization_type: optional(Type.Enum(['rbac', 'abac', 'unknown_authorization'])),
        }),
        ...allOptional(parameters),
        namespace_per_environment,
      },
      returns: one(Cluster),
      deprecated: true,
      refusals: { 400: '<parameter>: <reason>' },
      handle: async ({ db, url, secrets, caller, input }) =>
        clusterOf({ db, url }, await addCluster({ db, secrets }, caller, input)),
    }),
    put('/admin/clusters/:cluster_id', {
      operation: 'updateInstanceCluster',
      summary: 'Update a cluster',
      access: admin,
      input: {
        cluster_id: Id,
        name: optional(Type.String()),
        platform_kubernetes_attributes: optional(Type.Object(allOptional({ ...required, ...platform }))),
        ...allOptional(parameters),
        namespace_per_environment,
      },
      returns: one(ChangedCluster),
      deprecated: true,
      refusals: { 400: '<parameter>: <reason>' },
      handle: async ({ db, url, secrets, caller, input: { cluster_id, ...given } }) => {
        await changeCluster({ db, secrets }, caller, cluster_id, given);
        return { ...(await clusterOf({ db, url }, cluster_id)), project: null };
      },
    }),
    del('/admin/clusters/:cluster_id', {
      operation: 'deleteInstanceCluster',
      summary: 'Remove a cluster',
      access: admin,
      input: { cluster_id: Id },
      conditional: true,
      returns: nothing,
      deprecated: true,
      handle: async ({ db, input, unmodified_since }) => {
        const query = db.selectFrom('clusters').select('updated_at').where('id', '=', input.cluster_id);
        checkUnmodified(found(undefined, await query.executeTakeFirst()).updated_at, unmodified_since);
        await deleteFound(db, 'clusters', input.cluster_id);
      },
    }),
  ],
);
