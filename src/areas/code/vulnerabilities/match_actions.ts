/** Compares packages with advisories, in batches. */
import { sql } from 'kysely';
import { isInRanges, type Range } from '../../../advisories/index.ts';
import { type Database, isAmong, ofAnyLength } from '../../../db/index.ts';
import { nextTurn } from '../../../foundation/loop_turns.ts';

/** Packages per statement. */
const batch = 500;
/** How long a comparison may block other work. */
const turn_ms = 10;

interface Candidate {
  package_version_id: number;
  advisory_id: number;
  ecosystem: string;
  version: string;
  ranges: Range[];
  is_listed: boolean;
}

/** The candidates whose package is affected by their advisory. */
async function affectedAmong(candidates: readonly Candidate[]): Promise<Candidate[]> {
  const affected: Candidate[] = [];
  let until = performance.now() + turn_ms;
  for (const candidate of candidates) {
    const { ecosystem, version, ranges, is_listed } = candidate;
    if (is_listed || isInRanges(ecosystem, version, ranges)) affected.push(candidate);
    if (performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + turn_ms;
  }
  return affected;
}

/** Taken exclusively to change advisories, and shared to compare packages: otherwise the result of comparing with outdated advisories would be stored. */
export const lockAdvisories = (tx: Database, mode: 'shared' | 'exclusive') =>
  sql`select ${sql.raw(mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock')}(hashtext('advisories'))`.execute(
    tx,
  );

async function matchBatch(tx: Database, ids: readonly number[]): Promise<void> {
  await lockAdvisories(tx, 'shared');
  const { rows } = await sql<Candidate>`
    select package_versions.id as package_version_id, advisory_id, ecosystem, version, ranges, version = any(versions) as is_listed
      from package_versions join advisory_packages using (ecosystem, advised_name)
     where package_versions.id = any(${ofAnyLength(ids, 'bigint[]')})`.execute(tx);
  const affected = await affectedAmong(rows);
  await tx
    .deleteFrom('package_advisories')
    .where(isAmong('package_version_id', ids, 'bigint[]'))
    .execute();
  await sql`
    insert into package_advisories (package_version_id, advisory_id)
    select distinct package_versions.id, found.advisory_id
      from unnest(${affected.map((each) => each.package_version_id)}::bigint[], ${affected.map((each) => each.advisory_id)}::bigint[]) found(package_id, advisory_id)
      join package_versions on package_versions.id = package_id
        on conflict do nothing`.execute(tx);
  await tx
    .updateTable('package_versions')
    .set({ is_matched: true })
    .where(isAmong('id', ids, 'bigint[]'))
    .execute();
}

/**
 * Compares all uncompared packages with their advisories. If two processes compare the same package, both get the same result.
 */
export async function matchPackages(db: Database): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await db
      .selectFrom('package_versions')
      .select('id')
      .where('is_matched', '=', false)
      .where('id', '>', after)
      .orderBy('id')
      .limit(batch)
      .execute();
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    await db.transaction().execute((tx) => matchBatch(tx, ids));
    after = ids.at(-1)!;
  }
}
