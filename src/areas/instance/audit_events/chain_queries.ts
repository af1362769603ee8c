/** Whether the chains of audit events are whole (docs/reference/audit_events.md#tamper-evidence). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** The chain of a partition. */
export interface VerifiedChain {
  partition: string;
  length: number;
  first_at: string;
  last_at: string;
  /** The hash of its last event, in hexadecimal. */
  last_hash: string;
  /** The place of the first event that is missing or was changed; null if nothing is. */
  broken_at: number | null;
}

/**
 * Computes the hashes of all events again, partition by partition, the oldest first.
 * @param signal stops between two partitions
 */
export async function* verifiedChains(db: Database, signal: AbortSignal): AsyncGenerator<VerifiedChain> {
  const { rows: chains } = await sql<{ partition: string }>`
    select partition from audit_chains where dropped_at is null order by first_at, partition`.execute(db);
  for (const { partition } of chains) {
    signal.throwIfAborted();
    yield await db.transaction().execute(async (tx) => {
      await sql`set local statement_timeout = 0`.execute(tx);
      return verified(tx, partition);
    });
  }
}

/** The chain and its end are read by one statement, so that events that are added meanwhile are in both or in none. */
async function verified(db: Database, partition: string): Promise<VerifiedChain> {
  const { rows } = await sql<VerifiedChain>`
    with chained as (
      select event.place, event.hash,
             event.place is not distinct from row_number() over chain
               and event.previous_hash is not distinct from coalesce(lag(event.hash) over chain, ''::bytea)
               and event.hash is not distinct from audit_hash(event.previous_hash, event) as is_right,
             row_number() over chain as nth
        from audit_events event where event.tableoid = ${partition}::regclass
      window chain as (order by event.place nulls last, event.id)
    )
    select chains.partition, chains.length, chains.first_at, chains.last_at, encode(chains.last_hash, 'hex') as last_hash,
           coalesce((select min(nth) from chained where not is_right),
                    case when found.count <> chains.length or found.last_hash is distinct from chains.last_hash then least(found.count, chains.length) + 1 end) as broken_at
      from audit_chains chains, (select count(*) as count, (array_agg(hash order by place desc nulls last))[1] as last_hash from chained) found
     where chains.partition = ${partition}`.execute(db);
  return rows[0]!;
}
