/** What merge requests bring: the vulnerabilities and licenses of the packages of two commits (docs/reference/security_policies.md#dependencies). */
import { sql } from 'kysely';
import { fixIn, type Range } from '../../../advisories/index.ts';
import type { Database } from '../../../db/index.ts';
import { namedLicenses } from '../../../lockfiles/index.ts';
import type { FoundVulnerability, LicensedPackage } from '../../../security_policies/index.ts';
import { severityOf } from '../vulnerabilities/present.ts';
import { readerVersion } from './file_actions.ts';
import { readSoon } from './snapshot_jobs.ts';

/** Two commits of a project: the head of a merge request, and the merge base; null if the histories have nothing in common. */
export interface Span {
  project_id: number;
  head: string;
  base: string | null;
}

/** The columns of `known`. */
interface Known {
  /** Null while the head is not read, or if one of its files cannot be read; the same for the base. */
  head_id: number | null;
  base_id: number | null;
  /** The commits that are read. */
  read: string[];
}

/** The snapshots of both commits, as `known`. */
const knownIn = ({ project_id, head, base }: Span) => sql`known as materialized (
  select max(id) filter (where commit_id = ${head} and error is null) as head_id, max(id) filter (where commit_id = ${base} and error is null) as base_id,
         coalesce(array_agg(commit_id), '{}') as read
    from dependency_snapshots
   where project_id = ${project_id} and commit_id = any(${[head, base ?? head]}::text[]) and read_at is not null and reader_version = ${readerVersion})`;

/** Whether both commits are known. Those that are not read are read soon. */
async function isKnown(
  db: Database,
  { project_id, head, base }: Span,
  { head_id, base_id, read }: Known,
): Promise<boolean> {
  const missing = [...new Set([head, base ?? head])].filter((commit) => !read.includes(commit));
  if (missing.length > 0) await readSoon(db, project_id, missing);
  return head_id !== null && (base === null || base_id !== null);
}

interface Row extends Omit<FoundVulnerability, 'severity' | 'package' | 'fixed_version'> {
  severity: number;
  package_name: string;
  version: string;
  ecosystem: string;
  ranges: Range[];
}

/** The most vulnerabilities and packages that are looked at; a commit with more is not known. */
const maximumFound = 5_000;

/** The tables of the vulnerabilities of what the head depends on, most severe first, as `judged`. */
const vulnerabilitiesIn = ({ project_id }: Span) => sql`found as (
      select distinct on (advisories.cluster) advisories.cluster, listed.name as package_name, listed.version, package_versions.ecosystem, package_versions.advised_name
        from dependency_snapshot_packages listed join package_versions on package_versions.id = listed.package_version_id
             join package_advisories on package_advisories.package_version_id = package_versions.id join advisories on advisories.id = advisory_id
       where snapshot_id = (select head_id from known)
       order by advisories.cluster, listed.name, listed.version
    ), clusters_before as (
      select distinct advisories.cluster
        from dependency_snapshot_packages listed join package_advisories using (package_version_id) join advisories on advisories.id = advisory_id
       where snapshot_id = (select base_id from known)
    ), judged as (
      select about.name, about.severity, package_name, version, ecosystem,
             not exists (select from clusters_before where clusters_before.cluster = found.cluster) as is_new,
             coalesce(kept.state, 'detected') as state, extract(epoch from now() - kept.created_at) / 86400 as age_days,
             coalesce((select jsonb_agg(range) from advisories join advisory_packages on advisory_id = advisories.id, jsonb_array_elements(ranges) range
                        where cluster = found.cluster and advisory_packages.ecosystem = found.ecosystem
                          and advisory_packages.advised_name = found.advised_name), '[]') as ranges
        from found
             cross join lateral (select (array_agg(name order by name not like 'CVE-%', record_id))[1] as name, max(severity) as severity
                                   from advisories where cluster = found.cluster) about
             left join vulnerabilities kept on kept.project_id = ${project_id} and kept.cluster = found.cluster
       order by about.severity desc, about.name limit ${sql.lit(maximumFound + 1)}
    )`;

/** Whether there are advisories, and all packages of both commits are compared with them. */
const isCompared = sql`exists (select from advisories)
           and not exists (select from dependency_snapshot_packages listed join package_versions on package_versions.id = listed.package_version_id
                            where snapshot_id in (known.head_id, known.base_id) and not is_matched)`;

interface LicensedRow {
  name: string;
  version: string;
  licenses: string[];
  is_new: boolean;
}

/** The tables of the packages of the head with their licenses, by name, as `listing`. Where the files do not say, what the default branch knows of the same package counts. */
const licensesIn = ({ project_id }: Span) => sql`told as (
      select name, version, min(found_licenses) as licenses from dependencies
       where project_id = ${project_id} and found_licenses <> '{}' group by name, version
    ), packages_before as (
      select distinct name, licenses from dependency_snapshot_packages where snapshot_id = (select base_id from known)
    ), listing as (
      select distinct listed.name, listed.version,
             case when listed.licenses = '{}' then coalesce(told.licenses, '{}') else listed.licenses end as licenses,
             packages_before.name is null as is_new
        from dependency_snapshot_packages listed left join told using (name, version)
             left join packages_before on (packages_before.name, packages_before.licenses) = (listed.name, listed.licenses)
       where snapshot_id = (select head_id from known)
       order by listed.name, listed.version limit ${sql.lit(maximumFound + 1)}
    )`;

/** What the packages of a head bring; undefined while it is not known. */
interface Brought {
  /** Undefined also while packages are not compared with the advisories, or there are no advisories. */
  vulnerabilities: FoundVulnerability[] | undefined;
  packages: LicensedPackage[] | undefined;
}

const presentVulnerability = ({ severity, package_name, version, ecosystem, ranges, age_days, ...row }: Row) => ({
  ...row,
  severity: severityOf(severity),
  package: `${package_name} ${version}`,
  fixed_version: fixIn(ecosystem, version, ranges) ?? null,
  age_days: age_days === null ? null : Number(age_days),
});

const presentPackage = ({ name, version, licenses, is_new }: LicensedRow) => ({
  package: `${name} ${version}`,
  licenses: namedLicenses(licenses).map((license) => license.spdx_identifier ?? license.name),
  is_new,
});

const few = <T>(rows: readonly T[]): readonly T[] | undefined => (rows.length > maximumFound ? undefined : rows);

/**
 * The vulnerabilities and the licenses of what the head of a merge request depends on, in one statement.
 * @param wanted what is asked for; the other is undefined
 */
export async function broughtBetween(
  db: Database,
  span: Span,
  wanted: { vulnerabilities: boolean; packages: boolean },
): Promise<Brought> {
  const nothing = sql`'[]'::json`;
  const tables = [
    knownIn(span),
    ...(wanted.vulnerabilities ? [vulnerabilitiesIn(span)] : []),
    ...(wanted.packages ? [licensesIn(span)] : []),
  ];
  const { rows } = await sql<Known & { is_compared: boolean; judged: Row[]; listed: LicensedRow[] }>`
    with ${sql.join(tables)}
    select known.*, ${wanted.vulnerabilities ? isCompared : sql`false`} as is_compared,
           ${wanted.vulnerabilities ? sql`coalesce((select json_agg(judged) from judged), '[]')` : nothing} as judged,
           ${wanted.packages ? sql`coalesce((select json_agg(listing) from listing), '[]')` : nothing} as listed
      from known`.execute(db);
  const { is_compared, judged, listed, ...known } = rows[0]!;
  if (!(await isKnown(db, span, known))) return { vulnerabilities: undefined, packages: undefined };
  return {
    vulnerabilities: is_compared ? few(judged)?.map(presentVulnerability) : undefined,
    packages: wanted.packages ? few(listed)?.map(presentPackage) : undefined,
  };
}
