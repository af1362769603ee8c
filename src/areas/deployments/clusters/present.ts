/** How clusters appear in replies (docs/reference/clusters.md). The token never does. */
import { type Static, Type } from 'typebox';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import { ProjectIdentity } from '../../people/namespaces/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import type { ClusterRow } from './queries.ts';

const ClusterUser = Type.Pick(UserBasic, ['id', 'username', 'name', 'state', 'avatar_url', 'web_url'], {
  title: 'ClusterUser',
});

const fields = {
  id: Id,
  name: Type.String(),
  created_at: Timestamp,
  domain: nullable(Type.String()),
  enabled: Type.Boolean(),
  managed: Type.Boolean({ description: 'Whether the service manages namespaces and service accounts of the cluster' }),
  provider_type: Type.Enum(['user', 'gcp', 'aws']),
  platform_type: Type.Literal('kubernetes'),
  environment_scope: Type.String(),
  cluster_type: Type.Literal('instance_type'),
  namespace_per_environment: Type.Boolean(),
  user: ClusterUser,
  platform_kubernetes: Type.Object({
    api_url: Type.String(),
    namespace: nullable(Type.String()),
    authorization_type: Type.Enum(['rbac', 'abac', 'unknown_authorization']),
    ca_cert: nullable(Type.String()),
  }),
  provider_gcp: Type.Null(),
  management_project: nullable(ProjectIdentity),
};
export const Cluster = resource('Cluster', fields);
/** The reply to a change has one more member, as in the public API. */
export const ChangedCluster = resource('ChangedCluster', { ...fields, project: Type.Null() });

/** @param url the external address of the server */
export function presentCluster(url: string, row: ClusterRow): Static<typeof Cluster> {
  const { api_url, namespace, authorization_type, ca_cert, user, ...cluster } = row;
  return {
    ...cluster,
    platform_type: 'kubernetes',
    cluster_type: 'instance_type',
    user: presentUserBasic(url, user),
    platform_kubernetes: { api_url, namespace, authorization_type, ca_cert },
    provider_gcp: null,
  };
}
