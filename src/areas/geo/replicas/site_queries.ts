/** The settings of this secondary's node, and whether its database is complete. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { areInBucket, type Part } from './definition.ts';
import type { Selection } from './record_queries.ts';

/** What this secondary copies, and how much in parallel. */
export interface SiteRules {
  selection: Selection;
  copies_files: boolean;
  capacity: Readonly<Record<Part | 'verification', number>>;
  reverification_days: number;
  /** When a retry of failed copies was last requested. */
  repaired_at: string | null;
  download_timeout_s: number;
}

/** The rules of the node of this server; undefined if the database has no such node yet, or it is disabled. */
async function rulesOfSite({
  db,
  geo,
  blobs,
}: Pick<JobServices, 'db' | 'geo' | 'blobs'>): Promise<SiteRules | undefined> {
  const node = await db
    .selectFrom('geo_nodes')
    .selectAll()
    .select(
      sql<number[]>`array(select namespace_id from geo_node_namespaces where geo_node_id = geo_nodes.id order by 1)`.as(
        'ids',
      ),
    )
    .where('name', '=', geo.nodeName)
    .where('enabled', '=', true)
    .executeTakeFirst();
  if (!node) return undefined;
  return {
    selection: selectionOf(node.selective_sync_type, node.ids, node.selective_sync_shards),
    // A bucket is read by all sites that are configured with it. A primary with files in a bucket computes checksums of
    // them only if a node requests copies.
    copies_files: node.sync_object_storage || (!areInBucket(blobs) && (await hasChecksumsOfFiles(db))),
    capacity: {
      repositories: node.repos_max_capacity,
      files: node.files_max_capacity,
      verification: node.verification_max_capacity,
    },
    reverification_days: node.minimum_reverification_interval,
    repaired_at: node.repair_requested_at,
    download_timeout_s: node.blob_download_timeout,
  };
}

function selectionOf(type: string | null, ids: readonly number[], names: readonly string[]): Selection {
  if (type === 'namespaces') return { by: 'namespaces', ids };
  return type === 'shards' ? { by: 'shards', names } : undefined;
}

async function hasChecksumsOfFiles(db: Database): Promise<boolean> {
  const { rows } = await sql`select from geo_checksums where part = 'files' limit 1`.execute(db);
  return rows.length > 0;
}

/** Identifies the current copy of the primary's database; undefined until it is complete. */
async function completeCopy(db: Database): Promise<string | undefined> {
  const { rows } = await sql<{ copy: string | null }>`
    select string_agg(distinct srsubid::text, ',') filter (where srsubstate = 'r') as copy from pg_subscription_rel
    having bool_and(srsubstate = 'r')`.execute(db);
  return rows[0]?.copy ?? undefined;
}

/**
 * Reads records to copy only while the database is complete: otherwise all rows that have not arrived yet would count
 * as deleted. For a new copy, the tables are emptied in one transaction, which either waits for this one or is visible
 * to it.
 * @param read receives the rules of the node, and the identity of the current copy of the primary's database
 * @returns undefined if the database is not complete, or has no enabled node for this site
 */
export const whileComplete = <T>(
  services: Pick<JobServices, 'db' | 'geo' | 'blobs'>,
  read: (tx: Database, rules: SiteRules, copy: string) => Promise<T>,
): Promise<T | undefined> =>
  services.db.transaction().execute(async (tx) => {
    await sql`lock table projects in access share mode`.execute(tx);
    const copy = await completeCopy(tx);
    const rules = copy === undefined ? undefined : await rulesOfSite({ ...services, db: tx });
    return copy === undefined || rules === undefined ? undefined : read(tx, rules, copy);
  });
