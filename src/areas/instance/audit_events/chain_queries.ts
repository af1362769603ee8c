/** Whether the chains of audit events are whole (docs/reference/audit_events.md#tamper-evidence). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** A chain of events, named like the partition into which they were written. */
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
 * Computes the hashes of all events again, chain by chain, the oldest first. Events that are in no chain, or
 * not of the time of theirs, were added by hand, and are reported as a chain that is broken from its first event on.
 * @param signal stops between two chains
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
  const { rows: strangers } = await sql<VerifiedChain>`
    select coalesce(chain, 'no chain') as partition, count(*) as length, min(created_at) as first_at, max(created_at) as last_at,
           '' as last_hash, 1 as broken_at
      from audit_events where not exists (
             select from audit_chains where partition = chain and created_at between first_at and last_at)
     group by chain`.execute(db);
  yield* strangers;
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
        from audit_chains chains
        join audit_events event on event.chain = chains.partition and event.created_at between chains.first_at and chains.last_at
       where chains.partition = ${partition}
      window chain as (order by event.place nulls last, event.id)
    )
    select chains.partition, chains.length, chains.first_at, chains.last_at, encode(chains.last_hash, 'hex') as last_hash,
           coalesce((select min(nth) from chained where not is_right),
                    case when found.count <> chains.length or found.last_hash is distinct from chains.last_hash then least(found.count, chains.length) + 1 end) as broken_at
      from audit_chains chains, (select count(*) as count, (array_agg(hash order by place desc nulls last))[1] as last_hash from chained) found
     where chains.partition = ${partition}`.execute(db);
  return rows[0]!;
}
