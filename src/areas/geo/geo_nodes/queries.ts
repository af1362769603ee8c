/** Reading nodes. */
import { sql } from 'kysely';

import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';

const namespaceIds = sql<number[]>`array(
  select namespace_id from geo_node_namespaces where geo_node_id = geo_nodes.id order by namespace_id)`;

/** All nodes. */
export const nodes = (db: Database) =>
  db
    .selectFrom('geo_nodes')
    .select(['geo_nodes.id', 'name', 'url', 'internal_url', 'primary', 'enabled', 'credential'])
    .select([
      'files_max_capacity',
      'repos_max_capacity',
      'verification_max_capacity',
      'container_repositories_max_capacity',
    ])
    .select(['sync_object_storage', 'minimum_reverification_interval', 'blob_download_timeout'])
    .select(['selective_sync_type', 'selective_sync_shards', namespaceIds.as('selective_sync_namespace_ids')])
    .select(['refresh_requested_at', 'repair_requested_at']);

/** A node: one site of the installation. */
export type GeoNode = Awaited<ReturnType<ReturnType<typeof nodes>['executeTakeFirstOrThrow']>>;

/** The node with a name, whatever its case; undefined when there is none. */
const nodeNamed = (db: Database, name: string): Promise<GeoNode | undefined> =>
  nodes(db).where('name', '=', name).executeTakeFirst();

/** The node of this server. */
export const ownNode = (db: Database, { geo }: Pick<Services, 'geo'>): Promise<GeoNode | undefined> =>
  nodeNamed(db, geo.nodeName);
