/** Adds and changes clusters. All input is validated before anything is written. */
import type { Selectable } from 'kysely';
import { type MaybeCaller, projectFor } from '../../../access/index.ts';
import { type Database, type DB, isForeignKeyViolation, isUniqueViolation, stamped } from '../../../db/index.ts';
import { found, invalid, type Services } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { tokenPurpose } from './queries.ts';
import {
  apiUrlReasons,
  certificateReasons,
  domainReasons,
  nameReasons,
  namespaceReasons,
  scopeReasons,
  tokenReasons,
} from './rules.ts';

/** Request parameters; omitted ones keep their values. */
export interface ClusterParameters {
  name?: string;
  enabled?: boolean;
  managed?: boolean;
  domain?: string | null;
  environment_scope?: string;
  namespace_per_environment: boolean;
  management_project_id?: number | null;
  platform_kubernetes_attributes?: {
    api_url?: string;
    token?: string;
    ca_cert?: string | null;
    namespace?: string | null;
    authorization_type?: string;
  };
}

type Cluster = Pick<
  Selectable<DB['clusters']>,
  'name' | 'managed' | 'namespace' | 'provider_type' | 'api_url' | 'ca_cert'
>;
type Reasons = Record<string, string[]>;

/** The given parameters as columns: trimmed, blank ones as null, the token unchanged. */
function columnsFrom({ platform_kubernetes_attributes: platform = {}, ...given }: ClusterParameters) {
  const orNull = (text: string | null) => text?.trim() || null;
  const { token, ca_cert, namespace, ...others } = platform;
  return {
    ...given,
    ...(given.domain === undefined ? {} : { domain: orNull(given.domain) }),
    ...others,
    ...(ca_cert === undefined ? {} : { ca_cert: orNull(ca_cert) }),
    ...(namespace === undefined ? {} : { namespace: orNull(namespace)?.toLowerCase() ?? null }),
    ...(token === undefined ? {} : { token: token.trim() }),
  };
}
type ClusterColumns = ReturnType<typeof columnsFrom>;

/** @param managed the value after the change */
async function reasonsAgainst(
  db: Database,
  caller: MaybeCaller,
  given: ClusterColumns & { managed: boolean },
): Promise<Reasons> {
  const { name, domain, environment_scope, management_project_id, api_url, token, ca_cert, namespace, managed } = given;
  const mayBeLocal = api_url !== undefined && (await settingsOf(db)).allow_local_requests_from_web_hooks_and_services;
  const isProject =
    management_project_id == null || (await projectFor(db, caller, String(management_project_id))) !== undefined;
  const reasons: Reasons = {
    name: name === undefined ? [] : nameReasons(name),
    domain: domain == null ? [] : domainReasons(domain),
    environment_scope: environment_scope === undefined ? [] : scopeReasons(environment_scope),
    management_project_id: isProject ? [] : [noProject],
    'platform_kubernetes.api_url': api_url === undefined ? [] : apiUrlReasons(api_url, mayBeLocal),
    'platform_kubernetes.token': token === undefined ? [] : tokenReasons(token),
    'platform_kubernetes.ca_cert': ca_cert == null ? [] : certificateReasons(ca_cert),
    'platform_kubernetes.namespace': namespace == null ? [] : namespaceReasons(namespace, managed),
  };
  return Object.fromEntries(Object.entries(reasons).filter(([, texts]) => texts.length > 0));
}

const noProject = "Project does not exist or you don't have permission to perform this action";

/** Attributes that a provider keeps in sync with its own records. We create no such clusters; one in the database must not drift apart from the provider. */
function reasonsOfProvider(before: Cluster, given: ClusterColumns): Reasons {
  if (before.provider_type === 'user') return {};
  const isOther = (column: 'name' | 'api_url' | 'ca_cert') =>
    given[column] !== undefined && given[column] !== before[column];
  const platformChanges = isOther('api_url') || isOther('ca_cert') || given.token !== undefined;
  return {
    ...(isOther('name') ? { name: [" can not be changed because it's synchronized with provider"] } : {}),
    ...(platformChanges ? { 'platform_kubernetes.base': ['Cannot modify managed Kubernetes cluster'] } : {}),
  };
}

function refuseFor(reasons: Reasons): void {
  if (Object.keys(reasons).length > 0) throw invalid(reasons);
}

/** Runs a write; only the database detects conflicts with concurrent calls. */
async function write<T>(statement: Promise<T>): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    if (isUniqueViolation(error, 'clusters_environment_scope_key'))
      throw invalid({ environment_scope: ['cannot add duplicated environment scope'] });
    if (isForeignKeyViolation(error, 'clusters_management_project_id_fkey'))
      throw invalid({ management_project_id: [noProject] });
    throw error;
  }
}

/**
 * Adds a cluster. No connection to the cluster is made.
 * @returns its id
 * @throws ApiError 400 by field
 */
export async function addCluster(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  caller: NonNullable<MaybeCaller>,
  given: ClusterParameters & {
    name: string;
    platform_kubernetes_attributes: { api_url: string; token: string };
  },
): Promise<number> {
  const columns = columnsFrom(given);
  refuseFor(await reasonsAgainst(db, caller, { ...columns, managed: given.managed ?? true }));
  const { name } = given;
  const { api_url } = given.platform_kubernetes_attributes;
  const token = secrets.seal(tokenPurpose, columns.token!);
  const statement = db
    .insertInto('clusters')
    .values({ ...columns, name, api_url, token, user_id: caller.id })
    .returning('id');
  return (await write(statement.executeTakeFirstOrThrow())).id;
}

/**
 * Changes the given attributes of a cluster, or none if any is refused.
 * @throws ApiError 404, 400 by field
 */
export async function changeCluster(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  caller: MaybeCaller,
  id: number,
  given: ClusterParameters,
): Promise<void> {
  const { token, ...columns } = columnsFrom(given);
  await db.transaction().execute(async (tx) => {
    const query = tx
      .selectFrom('clusters')
      .select(['name', 'managed', 'namespace', 'provider_type', 'api_url', 'ca_cert', 'token'])
      .where('id', '=', id)
      .forUpdate();
    const before: Cluster & { token: Buffer } = found(undefined, await query.executeTakeFirst());
    const managed = given.managed ?? before.managed;
    // The existing namespace must be cleared when the cluster becomes managed.
    const namespace = columns.namespace === undefined ? before.namespace : columns.namespace;
    refuseFor({
      ...(await reasonsAgainst(tx, caller, {
        ...columns,
        ...(token === undefined ? {} : { token }),
        managed,
        namespace,
      })),
      ...reasonsOfProvider(before, { ...columns, ...(token === undefined ? {} : { token }) }),
    });
    const changes = stamped({
      ...columns,
      ...(token === undefined ? {} : { token: secrets.resealed(tokenPurpose, before.token, token) }),
    });
    await write(tx.updateTable('clusters').set(changes).where('id', '=', id).execute());
  });
}
