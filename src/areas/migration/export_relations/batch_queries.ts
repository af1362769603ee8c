/** How records are split into batches. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Batch } from '../../../relations/index.ts';

/**
 * The batches of at most `size` records each.
 * @param ids a SELECT of one column, `id`
 */
export async function batchesOf(tx: Database, ids: RawBuilder<unknown>, size: number): Promise<Batch[]> {
  const { rows } = await sql<Batch>`
    select min(id) as first_id, max(id) as last_id
      from (select id, (row_number() over (order by id) - 1) / ${size}::integer as number from (${ids}) ids) numbered
     group by number order by number`.execute(tx);
  return rows;
}

/** The number of rows read at a time. */
const portion = 500;

/**
 * Rows in portions, by id.
 * @param rowsAfter at most `limit` rows of a batch, by id, above `after`
 */
export async function* inPortions<R extends { id: number }>(
  rowsAfter: (after: number, limit: number) => Promise<R[]>,
): AsyncGenerator<R> {
  for (let after = 0; ; ) {
    const rows = await rowsAfter(after, portion);
    yield* rows;
    if (rows.length < portion) return;
    after = rows.at(-1)!.id;
  }
}

/** The range of all ids, for exports that are not batched. */
export const whole: Batch = { first_id: 0, last_id: Number.MAX_SAFE_INTEGER };
