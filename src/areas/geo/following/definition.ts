/** How the database of a secondary follows that of the primary: by logical replication (docs/decisions/0096-the-database-follows-through-the-http-port.md). */

export const publication = 'coppice';
export const subscription = 'coppice';

/** The role of an embedded database as which a secondary connects. */
export const followerRole = 'coppice_geo';

/**
 * Tables with rows of the site's own, which are not replicated. They and all other tables have no foreign keys to each
 * other.
 */
export const ownTables: readonly string[] = [
  'repeated_migrations',
  'geo_cursors',
  'geo_following',
  'geo_links',
  'geo_nonces',
  'geo_replicas',
  'kysely_migration',
  'kysely_migration_lock',
  'nodes',
  'request_counts',
  'storages',
  'unused_blobs',
  'unused_repositories',
];

/** The primary's reply to a secondary that replicates it. */
export interface Followed {
  /** The UUID of the installation. */
  installation: string;
  schema: string;
  /** The name of the database. */
  database: string;
  /** The primary's current write position, as an LSN. */
  position: string;
  /** Whether the requested slot is usable. */
  slot: 'usable' | 'lost' | 'missing';
}
