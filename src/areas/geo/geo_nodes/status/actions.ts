/** Storing statuses, requesting new ones, and repairing nodes. */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import { found, inputReader, type Services } from '../../../../http/index.ts';
import { hasCredential, newCredential } from '../../link/credential_rules.ts';
import { changingNodes } from '../actions.ts';
import type { Noun } from '../definition.ts';
import { nodes } from '../queries.ts';
import { type SiteStatus, siteStatus } from './definition.ts';

const readStatus = inputReader({ input: siteStatus });

/** Stores the last status of a node. */
export async function recordStatus(db: Database, geo_node_id: number, status: SiteStatus): Promise<void> {
  const values = { status: JSON.stringify(status), reported_at: sql<string>`now()` };
  await db
    .insertInto('geo_statuses')
    .values({ geo_node_id, ...values })
    .onConflict((conflict) => conflict.column('geo_node_id').doUpdateSet(values))
    .execute();
}

/**
 * Stores the status that a secondary reports.
 * @throws ApiError 400 for a malformed status
 */
export async function takeStatus(
  { db }: Pick<Services, 'db'>,
  { id }: { id: number },
  status: object,
): Promise<object> {
  await recordStatus(db, id, readStatus({ ...status }, 'ultimate'));
  return {};
}

/** Requests a new status from a secondary, which sees the request in its replica of the row. */
export async function requestStatus(db: Database, id: number): Promise<void> {
  await db.updateTable('geo_nodes').set({ refresh_requested_at: sql`now()` }).where('id', '=', id).execute();
}

/**
 * Repairs a secondary: replaces a lost credential by a new one, which it takes with its next handshake, and makes all
 * failed copies due.
 * @throws ApiError 404
 */
export const repairNode = (
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  { resource }: Noun,
  id: number,
): Promise<void> =>
  changingNodes(db, async (tx) => {
    const node = found(resource, await nodes(tx).where('id', '=', id).executeTakeFirst());
    const credential = hasCredential(secrets, node) ? {} : { credential: newCredential(secrets) };
    await tx
      .updateTable('geo_nodes')
      .set({ ...credential, refresh_requested_at: sql`now()`, repair_requested_at: sql`now()` })
      .where('id', '=', id)
      .execute();
  });
