/** The vulnerabilities of projects, derived from the advisories that affect their dependencies, and from what their jobs found. */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { tellOfVulnerabilities } from './news_actions.ts';

interface Changed {
  id: number;
  is_new: boolean;
}

/**
 * Updates the vulnerabilities of projects from their dependencies and the advisories, and from the findings of their jobs. A vulnerability resolved by a user is detected again when it reappears; a dismissed one stays
 * dismissed.
 * @param tx the transaction of the change
 */
export async function refreshVulnerabilities(tx: Database, project_ids: readonly number[]): Promise<void> {
  const ids = ofAnyLength(project_ids, 'bigint[]');
  const { rows } = await sql<Changed>`
    with found as materialized (
      select dependencies.project_id, advisories.cluster, (array_agg(advisories.name order by advisories.name not like 'CVE-%', advisories.record_id))[1] as name,
             max(advisories.severity) as severity, null as report_type
        from dependencies join package_advisories using (package_version_id) join advisories on advisories.id = advisory_id
       where dependencies.project_id = any(${ids})
       group by dependencies.project_id, advisories.cluster
      union all
      select project_id, cluster, min(name), max(severity), min(report_type) from vulnerability_findings
       where project_id = any(${ids}) group by project_id, cluster
    ), back as (
      insert into vulnerability_state_changes (vulnerability_id, from_state, to_state)
      select vulnerabilities.id, 'resolved', 'detected' from vulnerabilities join found using (project_id, cluster)
       where state = 'resolved' and not is_present
    )
    insert into vulnerabilities as kept (project_id, cluster, name, severity, report_type) select project_id, cluster, name, severity, report_type from found
     order by project_id, severity desc, name
        on conflict (project_id, cluster) do update
       set name = excluded.name, severity = excluded.severity, is_present = true, updated_at = now(),
           state = case when kept.state = 'resolved' and not kept.is_present then 'detected' else kept.state end
     where (kept.name, kept.severity, kept.is_present) is distinct from (excluded.name, excluded.severity, true)
    returning id, created_at = updated_at as is_new`.execute(tx);
  await endGone(tx, project_ids);
  await tellOfVulnerabilities(
    tx,
    rows.filter(({ is_new }) => is_new).map(({ id }) => id),
  );
}

/**
 * Resolves vulnerabilities that no longer affect a dependency or are not found any more, and removes those whose advisories are gone. The present ones are collected first: a package looked up for each
 * vulnerability can occur in thousands of projects.
 */
async function endGone(tx: Database, project_ids: readonly number[]): Promise<void> {
  const ids = ofAnyLength(project_ids, 'bigint[]');
  await sql`
    with present as materialized (
      select distinct dependencies.project_id, advisories.cluster
        from dependencies join package_advisories using (package_version_id) join advisories on advisories.id = advisory_id
       where dependencies.project_id = any(${ids})
      union all
      select distinct project_id, cluster from vulnerability_findings where project_id = any(${ids})
    ), gone as materialized (
      select id, state, report_type is not null or exists (select from advisories where advisories.cluster = vulnerabilities.cluster) as is_known
        from vulnerabilities
       where project_id = any(${ids}) and (is_present or (report_type is null and not exists (select from advisories where advisories.cluster = vulnerabilities.cluster)))
         and not exists (select from present where present.project_id = vulnerabilities.project_id and present.cluster = vulnerabilities.cluster)
    ), withdrawn as (
      delete from vulnerabilities using gone where vulnerabilities.id = gone.id and not is_known
    ), ended as (
      insert into vulnerability_state_changes (vulnerability_id, from_state, to_state)
      select id, state, 'resolved' from gone where is_known and state = 'detected'
    )
    update vulnerabilities
       set is_present = false, updated_at = now(), state = case when vulnerabilities.state = 'detected' then 'resolved' else vulnerabilities.state end
      from gone where vulnerabilities.id = gone.id and is_known`.execute(tx);
}

/** Projects updated per transaction. */
const batch = 20;

/**
 * Updates the projects that depend on some packages.
 * @param package_version_ids the packages whose advisories have changed
 */
export async function refreshDependents(db: Database, package_version_ids: readonly number[]): Promise<void> {
  const { rows } = await sql<{ project_id: number }>`
    select distinct project_id from dependencies where package_version_id = any(${ofAnyLength(package_version_ids, 'bigint[]')})
     order by project_id`.execute(db);
  for (let at = 0; at < rows.length; at += batch) {
    const ids = rows.slice(at, at + batch).map(({ project_id }) => project_id);
    await db.transaction().execute((tx) => refreshVulnerabilities(tx, ids));
  }
}
