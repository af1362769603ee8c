/** How the database of a secondary follows that of the primary: by logical replication (docs/decisions/0096-the-database-follows-through-the-http-port.md). */

export const publication = 'coppice';
export const subscription = 'coppice';

/** The role of an embedded database that a secondary connects as. */
export const followerRole = 'coppice_geo';

/** Tables that each site has for itself. No row of another table refers to them, and they refer to none. */
export const ownTables: readonly string[] = [
  'geo_cursors',
  'geo_following',
  'geo_links',
  'geo_nonces',
  'geo_replicas',
  'kysely_migration',
  'kysely_migration_lock',
  'request_counts',
  'unused_blobs',
  'unused_repositories',
];

/** What a primary tells a secondary that follows it. */
export interface Followed {
  /** Of the installation. */
  installation: string;
  schema: string;
  /** The name of the database. */
  database: string;
  /** The end of what it has written, as an LSN. */
  position: string;
  /** Whether the slot that was asked about can be used. */
  slot: 'usable' | 'lost' | 'missing';
}
