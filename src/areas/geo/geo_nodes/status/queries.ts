/** Reading the statuses of nodes. */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import type { Services } from '../../../../http/index.ts';
import { type NamespaceRow, namespaceAvatar } from '../../../people/namespaces/index.ts';
import { hasCredential } from '../../link/credential_rules.ts';
import { type GeoNode, nodes } from '../queries.ts';
import type { SiteStatus } from './definition.ts';
import { statusOfThisSite } from './site_queries.ts';

/** The last status of a node. */
export interface StatusRow {
  node: Pick<GeoNode, 'id' | 'primary' | 'enabled' | 'selective_sync_type'>;
  /** Null for a node that has never reported. */
  status: SiteStatus | null;
  reported_at: string | null;
  /** The age of the report. */
  age_s: number;
  has_credential: boolean;
  /** The namespaces to which the node is limited. */
  namespaces: NamespaceRow[];
  /** The names of the storages of the primary. */
  primary_storages: readonly string[];
}

const chosenNamespaces = sql<NamespaceRow[]>`coalesce((
  select jsonb_agg(jsonb_build_object('id', chosen.id, 'name', chosen.name, 'path', chosen.path, 'kind', chosen.kind,
                     'full_path', chosen.full_path, 'parent_id', chosen.parent_id, 'avatar_path', ${namespaceAvatar('chosen')})
                   order by chosen.id)
    from geo_node_namespaces limits join namespaces chosen on chosen.id = limits.namespace_id
   where limits.geo_node_id = geo_nodes.id), '[]')`;

/** Nodes with their last status, by id. */
const storedRows = ({ db, geo }: Pick<Services, 'db' | 'geo'>) =>
  nodes(db)
    .leftJoin('geo_statuses', 'geo_statuses.geo_node_id', 'geo_nodes.id')
    .select(['status', 'reported_at', chosenNamespaces.as('namespaces')])
    .select(sql<number>`coalesce(extract(epoch from now() - reported_at), 0)::float8`.as('age_s'))
    .select(sql<boolean>`name = ${geo.nodeName}::citext`.as('current'))
    .orderBy('geo_nodes.id');

export type StoredRow = Awaited<ReturnType<ReturnType<typeof storedRows>['executeTakeFirstOrThrow']>>;

/** The rows in lists: nodes that have reported, and this server, which computes its own status. */
export const listedRows = (services: Pick<Services, 'db' | 'geo'>) =>
  storedRows(services).where((when) =>
    when.or([when('geo_statuses.geo_node_id', 'is not', null), sql<boolean>`name = ${services.geo.nodeName}::citext`]),
  );

/** The row of one node. */
export const storedRow = (services: Pick<Services, 'db' | 'geo'>, id: number) =>
  storedRows(services).where('geo_nodes.id', '=', id);

async function storagesOfPrimary(db: Database): Promise<string[]> {
  const row = await db
    .selectFrom('geo_nodes')
    .innerJoin('geo_statuses', 'geo_node_id', 'geo_nodes.id')
    .select('status')
    .where('primary', '=', true)
    .executeTakeFirst();
  return (row?.status as unknown as SiteStatus | undefined)?.storages ?? [];
}

/** Rows as shown: the row of this server is computed now. */
export async function currentRows(services: Services, stored: readonly StoredRow[]): Promise<StatusRow[]> {
  const own = stored.some(({ current }) => current) ? await statusOfThisSite(services) : null;
  const isSecondary = services.geo.role === 'secondary';
  const primary_storages = isSecondary ? await storagesOfPrimary(services.db) : Object.keys(services.storages);
  return stored.map(({ current, namespaces, ...row }) => ({
    node: row,
    status: current ? own : (row.status as unknown as SiteStatus | null),
    reported_at: current ? new Date().toISOString() : row.reported_at,
    age_s: current ? 0 : row.age_s,
    has_credential: hasCredential(services.secrets, row),
    namespaces,
    primary_storages,
  }));
}
