/** What the node of this secondary says, and whether its database is complete. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { areInBucket, type Part } from './definition.ts';
import type { Selection } from './record_queries.ts';

/** What this secondary copies, and how much at once. */
export interface SiteRules {
  selection: Selection;
  copies_files: boolean;
  capacity: Readonly<Record<Part | 'verification', number>>;
  reverification_days: number;
  /** When somebody asked last that copies that failed are tried again. */
  repaired_at: string | null;
  download_timeout_s: number;
}

/** The rules of the node of this server; undefined while the database has no such node, or it is disabled. */
export async function rulesOfSite({ db, geo, blobs }: Pick<JobServices, 'db' | 'geo' | 'blobs'>): Promise<SiteRules | undefined> {
  const node = await db
    .selectFrom('geo_nodes')
    .selectAll()
    .select(
      sql<number[]>`array(select namespace_id from geo_node_namespaces where geo_node_id = geo_nodes.id order by 1)`.as('ids'),
    )
    .where('name', '=', geo.nodeName)
    .where('enabled', '=', true)
    .executeTakeFirst();
  if (!node) return undefined;
  return {
    selection: selectionOf(node.selective_sync_type, node.ids, node.selective_sync_shards),
    // A bucket is read by all sites that are configured with it.
    copies_files: node.sync_object_storage || !areInBucket(blobs),
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

/**
 * Which copy of the primary's database this is; undefined until it is complete. Without this, everything that has not arrived yet would count as deleted.
 */
export async function completeCopy(db: Database): Promise<string | undefined> {
  const { rows } = await sql<{ copy: string | null }>`
    select string_agg(distinct srsubid::text, ',') filter (where srsubstate = 'r') as copy from pg_subscription_rel
    having bool_and(srsubstate = 'r')`.execute(db);
  return rows[0]?.copy ?? undefined;
}
