/** Stores advisories, and determines the effects. */
import { sql } from 'kysely';
import { type Advisory, severities } from '../../../advisories/index.ts';
import { type Database, isAmong, ofAnyLength } from '../../../db/index.ts';
import { lockAdvisories, matchPackages } from './match_actions.ts';
import { refreshDependents, refreshVulnerabilities } from './refresh_actions.ts';

/** Marks the packages affected by advisories with these ids for a new comparison. Returns the ids of the packages. */
async function unmatchPackages(tx: Database, record_ids: readonly string[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    update package_versions set is_matched = false
      from advisories join advisory_packages on advisory_packages.advisory_id = advisories.id
     where advisories.record_id = any(${ofAnyLength(record_ids, 'text[]')})
       and package_versions.ecosystem = advisory_packages.ecosystem and package_versions.advised_name = advisory_packages.advised_name
    returning package_versions.id`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Writes the rows of new and changed advisories. */
async function storeRecords(tx: Database, advisories: readonly Advisory[]): Promise<void> {
  const rows = advisories.map(({ severity, ...advisory }) => ({ ...advisory, severity: severities.indexOf(severity) }));
  await sql`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as given(
        record_id text, aliases json, name text, summary text, details text, severity smallint, links json, modified_at timestamptz, affected json)
    ), stored as (
      insert into advisories (record_id, aliases, cluster, name, summary, details, severity, links, modified_at)
      select record_id, array(select json_array_elements_text(aliases)), record_id, name, summary, details, severity,
             array(select json_array_elements_text(links)), modified_at from given
          on conflict (record_id) do update
         set aliases = excluded.aliases, name = excluded.name, summary = excluded.summary, details = excluded.details,
             severity = excluded.severity, links = excluded.links, modified_at = excluded.modified_at
      returning id, record_id
    )
    insert into advisory_packages (advisory_id, ecosystem, advised_name, ranges, versions)
    select stored.id, about.ecosystem, about.advised_name, about.ranges, array(select json_array_elements_text(about.versions))
      from stored join given using (record_id),
           json_to_recordset(given.affected) as about(ecosystem text, advised_name text, ranges jsonb, versions json)`.execute(
    tx,
  );
}

export interface Stored {
  changed: number;
  package_version_ids: number[];
}

/**
 * Stores advisories. Unchanged ones are skipped, and withdrawn ones are removed.
 * @param advisories each record once
 * @returns the number of new, changed and removed advisories, and the packages that they affect or affected before
 */
export async function storeAdvisories(db: Database, advisories: readonly Advisory[]): Promise<Stored> {
  return db.transaction().execute(async (tx) => {
    await lockAdvisories(tx, 'exclusive');
    const known = await tx
      .selectFrom('advisories')
      .select(['record_id', 'modified_at'])
      .where(
        isAmong(
          'record_id',
          advisories.map(({ record_id }) => record_id),
          'text[]',
        ),
      )
      .execute();
    const modified = new Map(known.map(({ record_id, modified_at }) => [record_id, modified_at]));
    const withdrawn = advisories
      .filter((each) => each.withdrawn && modified.has(each.record_id))
      .map(({ record_id }) => record_id);
    const changed = advisories.filter((each) => !each.withdrawn && modified.get(each.record_id) !== each.modified_at);
    const ids = changed.map(({ record_id }) => record_id);
    // Packages affected before and after the change.
    const before = await unmatchPackages(tx, [...withdrawn, ...ids]);
    await tx
      .deleteFrom('advisories')
      .where(isAmong('record_id', withdrawn, 'text[]'))
      .execute();
    await sql`
      delete from advisory_packages using advisories
       where advisories.id = advisory_id and record_id = any(${ofAnyLength(ids, 'text[]')})`.execute(tx);
    await storeRecords(tx, changed);
    const after = await unmatchPackages(tx, ids);
    return { changed: changed.length + withdrawn.length, package_version_ids: [...before, ...after] };
  });
}

/** The representative id of each group of records connected by aliases: a CVE id if there is one, otherwise the smallest. */
function clustersOf(records: readonly { record_id: string; aliases: readonly string[] }[]): Map<string, string> {
  const parents = new Map<string, string>();
  const rootOf = (id: string): string => {
    let root = id;
    for (let parent = parents.get(root); parent !== undefined; parent = parents.get(root)) root = parent;
    for (let at = id; at !== root; ) {
      const next = parents.get(at)!;
      parents.set(at, root);
      at = next;
    }
    return root;
  };
  const isBefore = (one: string, other: string) =>
    one.startsWith('CVE-') !== other.startsWith('CVE-') ? one.startsWith('CVE-') : one < other;
  for (const { record_id, aliases } of records)
    for (const alias of aliases) {
      const [one, other] = [rootOf(record_id), rootOf(alias)];
      if (one !== other) parents.set(isBefore(one, other) ? other : one, isBefore(one, other) ? one : other);
    }
  return new Map(records.map(({ record_id }) => [record_id, rootOf(record_id)]));
}

/** Groups the advisories about the same vulnerability. */
async function clusterAdvisories(db: Database): Promise<void> {
  const records = await db.selectFrom('advisories').select(['record_id', 'aliases', 'cluster']).execute();
  const clusters = clustersOf(records);
  const changed = records
    .map(({ record_id, cluster }) => ({ record_id, before: cluster, after: clusters.get(record_id)! }))
    .filter(({ before, after }) => before !== after);
  const [ids, before, after] = [
    changed.map(({ record_id }) => record_id),
    changed.map((each) => each.before),
    changed.map((each) => each.after),
  ];
  await sql`
    update advisories set cluster = given.cluster from unnest(${ids}::text[], ${after}::text[]) given(record_id, cluster)
     where advisories.record_id = given.record_id`.execute(db);
  // Decisions of users about a vulnerability stay when another id becomes its representative.
  await sql`
    update vulnerabilities set cluster = given.after
      from (select distinct on (before) before, after from unnest(${before}::text[], ${after}::text[]) given(before, after) order by before, after) given
     where vulnerabilities.cluster = given.before
       and not exists (select from vulnerabilities other where other.project_id = vulnerabilities.project_id and other.cluster = given.after)
       and not exists (select from advisories where advisories.cluster = given.before)`.execute(db);
}

/** Projects with vulnerabilities whose advisories no longer exist. */
async function orphanedProjects(db: Database): Promise<number[]> {
  const rows = await db
    .selectFrom('vulnerabilities')
    .select('project_id')
    .distinct()
    .where(sql<boolean>`not exists (select from advisories where advisories.cluster = vulnerabilities.cluster)`)
    .execute();
  return rows.map(({ project_id }) => project_id);
}

/**
 * Applies the result of `storeAdvisories`: groups advisories about the same vulnerability, and updates the affected packages and the vulnerabilities of projects.
 * @param package_version_ids the packages that the stored advisories affect or affected before
 */
export async function applyAdvisories(db: Database, package_version_ids: readonly number[]): Promise<void> {
  await clusterAdvisories(db);
  // Packages left over from an interrupted import.
  const left = await db.selectFrom('package_versions').select('id').where('is_matched', '=', false).execute();
  await matchPackages(db);
  await refreshDependents(db, [...new Set([...package_version_ids, ...left.map(({ id }) => id)])]);
  const orphaned = await orphanedProjects(db);
  if (orphaned.length > 0) await db.transaction().execute((tx) => refreshVulnerabilities(tx, orphaned));
}
