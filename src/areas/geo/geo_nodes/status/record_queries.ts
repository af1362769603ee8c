/** The number of records to copy, and how many of them have a checksum on the primary. */
import { sql } from 'kysely';
import type { Services } from '../../../../http/index.ts';
import { type Replicable, replicables } from '../../replicas/definition.ts';
import { recordsOf } from '../../replicas/record_queries.ts';
import type { Counts } from './definition.ts';

type Records = Pick<Counts, 'checksummed_count' | 'checksum_failed_count'> & { count: number };

/** @param isCounted whether to count all records, in addition to their checksums; otherwise `count` is 0 */
export async function recordsHere(
  { db, stored_files }: Pick<Services, 'db' | 'stored_files'>,
  isCounted: boolean,
): Promise<Record<Replicable, Records>> {
  const each = replicables.map((name) => {
    const count = isCounted ? sql`(select count(*) from (${recordsOf(stored_files, name)}) records)` : sql`0`;
    return sql`select ${name}::text as replicable, ${count}::bigint as count`;
  });
  const { rows } = await sql<Records & { replicable: Replicable }>`
    select replicable, count, coalesce(checksummed_count, 0) as checksummed_count, coalesce(checksum_failed_count, 0) as checksum_failed_count
      from (${sql.join(each, sql` union all `)}) counted
      left join (select replicable, count(*) filter (where failure is null and checksum is not null) as checksummed_count,
                        count(failure) as checksum_failed_count
                   from geo_checksums group by replicable) checksums using (replicable)`.execute(db);
  return Object.fromEntries(rows.map(({ replicable, ...counts }) => [replicable, counts])) as Record<
    Replicable,
    Records
  >;
}
