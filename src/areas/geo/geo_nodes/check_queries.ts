/** Checks of the requested values of nodes. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { invalid, type Services } from '../../../http/index.ts';
import { unknownReasons } from './rules.ts';

export const refusals = {
  taken: 'has already been taken',
  primaryExists: 'node already exists',
  primaryDisabled: 'Geo primary node cannot be disabled',
  lockedOut: 'Current node must be the primary node or you will be locking yourself out',
};

/** The requested state of a node, as far as it depends on other nodes. */
export interface WantedNode {
  /** Omitted for a new node. */
  id?: number;
  name: string;
  primary: boolean;
  enabled: boolean;
  selective_sync_shards?: string[] | undefined;
  selective_sync_namespace_ids?: number[] | undefined;
}

/** The context that the rules of nodes depend on. */
export type NodeContext = Pick<Services, 'geo' | 'storages'>;

interface Relations {
  is_taken: boolean;
  has_other_primary: boolean;
  is_own: boolean;
  namespace_ids: number[];
}

/** How a requested node relates to the existing ones. */
async function relationsOf(tx: Database, { geo }: NodeContext, wanted: WantedNode): Promise<Relations> {
  const { id = null, name, selective_sync_namespace_ids: ids = [] } = wanted;
  const { rows } = await sql<Relations>`
    select exists (select from geo_nodes where name = ${name}::citext and id is distinct from ${id}) as is_taken,
           exists (select from geo_nodes where "primary" and id is distinct from ${id}) as has_other_primary,
           ${name}::citext = ${geo.nodeName}::citext as is_own,
           array(select id from namespaces where id = any(${ids}::bigint[])) as namespace_ids`.execute(tx);
  return rows[0]!;
}

/**
 * Checks that a node may have its requested values.
 * @param tx a transaction in which nodes are locked
 * @throws ApiError 400
 */
export async function checkNode(tx: Database, context: NodeContext, wanted: WantedNode): Promise<void> {
  const { primary, enabled, selective_sync_shards: shards = [], selective_sync_namespace_ids: ids = [] } = wanted;
  const { is_taken, has_other_primary, is_own, namespace_ids } = await relationsOf(tx, context, wanted);
  const reasons = {
    name: is_taken ? [refusals.taken] : [],
    primary: primary && has_other_primary ? [refusals.primaryExists] : [],
    enabled: primary && !enabled ? [refusals.primaryDisabled] : [],
    selective_sync_shards: unknownReasons(shards, Object.keys(context.storages)),
    selective_sync_namespace_ids: unknownReasons(ids, namespace_ids),
    base: is_own && !primary ? [refusals.lockedOut] : [],
  };
  const failed = Object.entries(reasons).filter(([, texts]) => texts.length > 0);
  if (failed.length > 0) throw invalid(Object.fromEntries(failed));
}
