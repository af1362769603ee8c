/** The credentials of a cluster for jobs that deploy to it (docs/reference/clusters.md#variables-of-jobs). */
import { type CiVariable, mostSpecific } from '../../../ci_configuration/index.ts';
import type { Services } from '../../../http/index.ts';
import { tokenPurpose } from './queries.ts';

const maximumNamespace = 63;

/** Where a job deploys. */
interface Deploying {
  project: { id: number; path: string };
  environment: { name: string; slug: string };
}

/** The namespace of a project in a cluster that has none of its own: nothing is created there. */
function namespaceOf({ project, environment }: Deploying, isPerEnvironment: boolean): string {
  const suffix = `-${project.id}${isPerEnvironment ? `-${environment.slug}` : ''}`;
  const path = project.path
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .replace(/^-+/, '');
  return path.slice(0, maximumNamespace - suffix.length) + suffix;
}

interface Credentials {
  api_url: string;
  token: string;
  ca_cert: string | null;
  namespace: string;
}

/** What kubectl reads: JSON is YAML, too. */
const kubeconfig = ({ api_url, token, ca_cert, namespace }: Credentials): string =>
  JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'deployment' },
    clusters: [
      {
        name: 'cluster',
        cluster: {
          server: api_url,
          ...(ca_cert && { 'certificate-authority-data': Buffer.from(ca_cert).toString('base64') }),
        },
      },
    ],
    contexts: [{ name: 'deployment', context: { cluster: 'cluster', namespace, user: 'job' } }],
    users: [{ name: 'job', user: { token } }],
  });

const plain = (key: string, value: string): CiVariable => ({ key, value, raw: true });
const file = (key: string, value: string): CiVariable => ({ ...plain(key, value), file: true });

/**
 * The variables with which a job reaches the enabled cluster whose scope suits its environment best; none without one.
 * @param deploying whose job runs for a protected branch or tag, since the credentials are those of the whole cluster
 */
export async function clusterVariables(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  deploying: Deploying,
): Promise<CiVariable[]> {
  const query = db
    .selectFrom('clusters')
    .select(['api_url', 'token', 'ca_cert', 'namespace', 'domain', 'environment_scope', 'namespace_per_environment']);
  const enabled = await query.where('enabled', '=', true).orderBy('id').execute();
  const cluster = mostSpecific(enabled, deploying.environment.name);
  const token = cluster && secrets.unseal(tokenPurpose, cluster.token);
  if (!cluster || token === undefined) return [];
  const { api_url, ca_cert, domain } = cluster;
  const namespace = cluster.namespace ?? namespaceOf(deploying, cluster.namespace_per_environment);
  return [
    file('KUBECONFIG', kubeconfig({ api_url, token, ca_cert, namespace })),
    plain('KUBE_URL', api_url),
    { ...plain('KUBE_TOKEN', token), masked: true },
    plain('KUBE_NAMESPACE', namespace),
    ...(ca_cert ? [plain('KUBE_CA_PEM', ca_cert), file('KUBE_CA_PEM_FILE', ca_cert)] : []),
    ...(domain ? [plain('KUBE_INGRESS_BASE_DOMAIN', domain)] : []),
  ];
}
