import type { TakeStatus } from './status_http.ts';

/** Stores what a node reports as it is. */
export const storeStatus: TakeStatus = async ({ db }, { id: geo_node_id }, status) => {
  const values = { status: JSON.stringify(status), reported_at: new Date().toISOString() };
  await db
    .insertInto('geo_statuses')
    .values({ geo_node_id, ...values })
    .onConflict((conflict) => conflict.column('geo_node_id').doUpdateSet(values))
    .execute();
  return {};
};
