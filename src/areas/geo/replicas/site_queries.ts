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
    // A bucket is read by all sites that are configured with it. A primary whose files are in one computes no checksums of them, unless a node wants copies.
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

/** Which copy of the primary's database this is; undefined until it is complete. */
async function completeCopy(db: Database): Promise<string | undefined> {
  const { rows } = await sql<{ copy: string | null }>`
    select string_agg(distinct srsubid::text, ',') filter (where srsubstate = 'r') as copy from pg_subscription_rel
    having bool_and(srsubstate = 'r')`.execute(db);
  return rows[0]?.copy ?? undefined;
}

/**
 * Reads what there is to copy while the database is complete: otherwise everything that has not arrived yet would count as deleted. The tables are emptied for a new copy
 * in one transaction, which waits for this one or is seen by it.
 * @param read with the rules of the node, and which copy of the primary's database this is
 * @returns undefined while the database is not complete, or has no enabled node of this site
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
