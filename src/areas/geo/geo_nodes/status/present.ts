/** How statuses appear in responses (docs/reference/geo.md#statuses). */
import { type TSchema, Type } from 'typebox';
import { Id, nullable, type Services, Timestamp } from '../../../../http/index.ts';
import { NamespaceBasic, presentNamespaceBasic } from '../../../people/namespaces/index.ts';
import { replicables } from '../../replicas/definition.ts';
import type { Noun } from '../definition.ts';
import { type Counts, counters, type SiteStatus } from './definition.ts';
import { formerMembers, formerSchema } from './former_present.ts';
import type { StatusRow } from './queries.ts';
import { healthReasons, percentage } from './rules.ts';

/** Clients expect counts of these types, which this server does not have. */
const absent = [
  'merge_request_diffs',
  'package_files',
  'terraform_state_versions',
  'pipeline_artifacts',
  'pages_deployments',

  'job_artifacts',
  'ci_secure_files',
  'container_repositories',
  'dependency_proxy_blobs',
  'dependency_proxy_manifests',
  'design_management_repositories',
];

const Count = nullable(Type.Integer());
const Seconds = nullable(Type.Integer({ description: 'Unix time' }));

const countsSchema = (name: string): [string, TSchema][] => [
  ...counters.map((counter): [string, TSchema] => [`${name}_${counter}`, Count]),
  [`${name}_synced_in_percentage`, Type.String()],
  [`${name}_verified_in_percentage`, Type.String()],
  [`${name}_oldest_unsynced_time`, nullable(Timestamp)],
];

const shared = {
  geo_node_id: Id,
  healthy: Type.Boolean(),
  health: Type.String({ description: '`Healthy`, or why it is not, the worst reason first' }),
  health_status: Type.Enum(['Healthy', 'Unhealthy']),
  missing_oauth_application: Type.Boolean({ description: 'Whether the credential of a secondary must be repaired' }),
  db_replication_lag_seconds: Count,
  projects_count: Count,
  repositories_count: Count,
  ...Object.fromEntries([...replicables, ...absent].flatMap(countsSchema)),
  ...formerSchema,
  replication_slots_count: Count,
  replication_slots_used_count: Count,
  replication_slots_used_in_percentage: Type.String(),
  replication_slots_max_retained_wal_bytes: Count,
  container_repositories_replication_enabled: Type.Boolean(),
  repositories_checked_count: Count,
  repositories_checked_failed_count: Count,
  repositories_checked_in_percentage: Type.String(),
  last_event_id: Count,
  last_event_timestamp: Seconds,
  cursor_last_event_id: Count,
  cursor_last_event_timestamp: Seconds,
  last_successful_status_check_timestamp: Seconds,
  git_fetch_event_count_weekly: Count,
  git_push_event_count_weekly: Count,
  proxy_remote_requests_event_count_weekly: Count,
  proxy_local_requests_event_count_weekly: Count,
  version: nullable(Type.String()),
  revision: nullable(Type.String()),
  selective_sync_type: nullable(Type.String()),
  namespaces: Type.Array(NamespaceBasic),
  storage_shards: Type.Array(Type.Object({ name: Type.String() })),
  storage_shards_match: Type.Boolean({ description: 'Whether its storages have the names of those of the primary' }),
  updated_at: nullable(Timestamp),
};

/** The schema of a status under each of its names. */
const forms = {
  node: Type.Object(
    { ...shared, _links: Type.Object({ self: Type.String(), node: Type.String() }) },
    { title: 'GeoNodeStatus' },
  ),
  site: Type.Object(
    { ...shared, _links: Type.Object({ self: Type.String(), site: Type.String() }) },
    { title: 'GeoSiteStatus' },
  ),
};

type Shown = Record<string, unknown>;

/** The schema of statuses under a name. */
export const statusFormOf = ({ name }: Noun) => Type.Unsafe<Shown>(forms[name]);

const numbersOf = (name: string, counts: Counts | undefined): [string, unknown][] => [
  ...counters.map((counter): [string, unknown] => [`${name}_${counter}`, counts?.[counter] ?? null]),
  [`${name}_synced_in_percentage`, percentage(counts?.synced_count ?? null, counts?.registry_count ?? null)],
  [
    `${name}_verified_in_percentage`,
    percentage(counts?.verified_count ?? null, counts?.verification_total_count ?? null),
  ],
  [`${name}_oldest_unsynced_time`, counts?.oldest_unsynced_time ?? null],
];

/** The counts of types that this server does not have: zero, but null for the copies on a primary. */
function zeroes(status: SiteStatus | null, isPrimary: boolean): Counts | undefined {
  if (status === null) return undefined;
  const [there, copied] = [0, isPrimary ? null : 0];
  return {
    count: there,
    checksum_total_count: there,
    checksummed_count: there,
    checksum_failed_count: there,
    synced_count: copied,
    failed_count: copied,
    registry_count: copied,
    verification_total_count: copied,
    verified_count: copied,
    verification_failed_count: copied,
    oldest_unsynced_time: null,
  };
}

const secondsOf = (time: string | undefined): number | null =>
  time === undefined ? null : Math.floor(Date.parse(time) / 1000);

/** `Healthy`, or the reasons why a site is unhealthy. */
export function healthOf({ geo }: Pick<Services, 'geo'>, { node, status, age_s, has_credential }: StatusRow): string {
  const situation = {
    role: geo.role,
    enabled: node.enabled,
    hasCredential: has_credential,
    status: status ?? undefined,
    age_s,
  };
  return healthReasons(situation).join(' ') || healthyText;
}

const healthyText = 'Healthy';

function healthMembers(services: Pick<Services, 'geo'>, row: StatusRow): Shown {
  const health = healthOf(services, row);
  const healthy = health === healthyText;
  return {
    healthy,
    health,
    health_status: healthy ? healthyText : 'Unhealthy',
    missing_oauth_application: !row.has_credential,
  };
}

function repositoryMembers(status: SiteStatus | null): Shown {
  const counts = status?.counts.project_repositories;
  const [checksummed, failed] = [counts?.checksummed_count ?? null, counts?.checksum_failed_count ?? null];
  const checked = checksummed === null ? null : checksummed + (failed ?? 0);
  return {
    projects_count: counts?.count ?? null,
    repositories_count: counts?.count ?? null,
    repositories_checked_count: checked,
    repositories_checked_failed_count: failed,
    repositories_checked_in_percentage: percentage(checked, counts?.checksum_total_count ?? null),
  };
}

function databaseMembers(status: SiteStatus | null): Shown {
  const slots = status?.replication_slots;
  return {
    db_replication_lag_seconds: status?.db_replication_lag_seconds ?? null,
    replication_slots_count: slots?.count ?? null,
    replication_slots_used_count: slots?.used_count ?? null,
    replication_slots_used_in_percentage: percentage(slots?.used_count ?? null, slots?.count ?? null),
    replication_slots_max_retained_wal_bytes: slots?.max_retained_wal_bytes ?? null,
    last_event_id: status?.last_event?.id ?? null,
    last_event_timestamp: secondsOf(status?.last_event?.created_at),
    cursor_last_event_id: status?.cursor?.id ?? null,
    cursor_last_event_timestamp: secondsOf(status?.cursor?.created_at),
  };
}

const isSameSet = (some: readonly string[], others: readonly string[]): boolean =>
  new Set(some).symmetricDifference(new Set(others)).size === 0;

/** The reply for a row. */
export function presentStatus(services: Pick<Services, 'geo' | 'url'>, { name, path }: Noun, row: StatusRow): Shown {
  const { node, status, reported_at, primary_storages } = row;
  const self = `${services.url}/api/v4${path}/${node.id}`;
  const storages = status?.storages ?? [];
  return {
    geo_node_id: node.id,
    ...healthMembers(services, row),
    ...repositoryMembers(status),
    ...databaseMembers(status),
    ...Object.fromEntries(replicables.flatMap((each) => numbersOf(each, status?.counts[each]))),
    ...Object.fromEntries(absent.flatMap((each) => numbersOf(each, zeroes(status, node.primary)))),
    ...formerMembers(status),
    container_repositories_replication_enabled: false,
    git_fetch_event_count_weekly: null,
    git_push_event_count_weekly: null,
    proxy_remote_requests_event_count_weekly: null,
    proxy_local_requests_event_count_weekly: null,
    last_successful_status_check_timestamp: secondsOf(reported_at ?? undefined),
    version: status?.version ?? null,
    revision: status?.revision ?? null,
    selective_sync_type: node.selective_sync_type,
    namespaces: row.namespaces.map((namespace) => presentNamespaceBasic(services.url, namespace)),
    storage_shards: storages.map((storage) => ({ name: storage })),
    storage_shards_match: isSameSet(storages, primary_storages),
    updated_at: reported_at,
    _links: { self: `${self}/status`, [name]: self },
  };
}
