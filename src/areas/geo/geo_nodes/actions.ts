/** Changes of nodes. They are serialized, because most of their rules concern all nodes together. */
import { sql } from 'kysely';
import { type Database, stamped } from '../../../db/index.ts';
import { badRequest, found, type Services } from '../../../http/index.ts';
import { newCredential } from '../link/credential_rules.ts';
import { checkNode } from './check_queries.ts';
import type { Noun } from './definition.ts';
import type { NodeColumns } from './parameters.ts';
import { nodes, ownNode } from './queries.ts';

export const hasSecondaries = 'The primary cannot be removed while it has secondaries.';

/** The columns of a node, and the namespaces to which it is limited. */
interface NodeChanges {
  columns: NodeColumns;
  namespace_ids: number[] | undefined;
}

type NodeServices = Pick<Services, 'db' | 'geo' | 'storages' | 'secrets'>;

/**
 * Runs a change of nodes.
 * @param change runs in a transaction that locks all nodes
 */
export const changingNodes = <T>(db: Database, change: (tx: Database) => Promise<T>): Promise<T> =>
  db.transaction().execute(async (tx) => {
    await sql`lock table geo_nodes in share row exclusive mode`.execute(tx);
    return change(tx);
  });

async function limitTo(tx: Database, geo_node_id: number, ids: number[] | undefined): Promise<void> {
  if (ids === undefined) return;
  await tx.deleteFrom('geo_node_namespaces').where('geo_node_id', '=', geo_node_id).execute();
  const values = [...new Set(ids)].map((namespace_id) => ({ geo_node_id, namespace_id }));
  if (values.length > 0) await tx.insertInto('geo_node_namespaces').values(values).execute();
}

/**
 * Adds a node. A secondary gets a credential.
 * @returns its id
 * @throws ApiError 400
 */
export const addNode = (
  { db, ...services }: NodeServices,
  primary: boolean,
  { columns, namespace_ids }: NodeChanges & { columns: { name: string; url: string } },
): Promise<number> =>
  changingNodes(db, async (tx) => {
    const { name, enabled = true, selective_sync_shards } = columns;
    await checkNode(tx, services, {
      name,
      primary,
      enabled,
      selective_sync_shards,
      selective_sync_namespace_ids: namespace_ids,
    });
    const credential = primary ? null : newCredential(services.secrets);
    const { id } = await tx
      .insertInto('geo_nodes')
      .values({ ...columns, primary, credential })
      .returning('id')
      .executeTakeFirstOrThrow();
    await limitTo(tx, id, namespace_ids);
    return id;
  });

/**
 * Changes the given columns of a node.
 * @throws ApiError 400, 404
 */
export const changeNode = (
  { db, ...services }: NodeServices,
  { resource }: Noun,
  id: number,
  { columns, namespace_ids }: NodeChanges,
): Promise<void> =>
  changingNodes(db, async (tx) => {
    const before = found(resource, await nodes(tx).where('id', '=', id).executeTakeFirst());
    const { name, primary, enabled } = { ...before, ...columns };
    const { selective_sync_shards } = columns;
    const wanted = { id, name, primary, enabled, selective_sync_shards, selective_sync_namespace_ids: namespace_ids };
    await checkNode(tx, services, wanted);
    await tx.updateTable('geo_nodes').set(stamped(columns)).where('id', '=', id).execute();
    await limitTo(tx, id, namespace_ids);
  });

/**
 * Removes a node with its status and credential.
 * @throws ApiError 400 for the primary of secondaries, 404
 */
export const removeNode = ({ db }: Pick<Services, 'db'>, { resource }: Noun, id: number): Promise<void> =>
  changingNodes(db, async (tx) => {
    const { primary } = found(resource, await nodes(tx).where('id', '=', id).executeTakeFirst());
    const secondary = await tx
      .selectFrom('geo_nodes')
      .select('id')
      .where('primary', '=', false)
      .limit(1)
      .executeTakeFirst();
    if (primary && secondary) throw badRequest(hasSecondaries);
    await tx.deleteFrom('geo_nodes').where('id', '=', id).execute();
  });

/** Adds the node of this server when it is a primary that starts for the first time. */
export async function makeOwnNode({ db, geo, url }: Pick<Services, 'db' | 'geo' | 'url'>): Promise<void> {
  if (geo.role !== 'primary') return;
  await changingNodes(db, async (tx) => {
    const primary = await tx.selectFrom('geo_nodes').select('id').where('primary', '=', true).executeTakeFirst();
    if (primary || (await ownNode(tx, { geo }))) return;
    await tx
      .insertInto('geo_nodes')
      .values({ name: geo.nodeName, url: `${url}/`, primary: true })
      .execute();
  });
}
