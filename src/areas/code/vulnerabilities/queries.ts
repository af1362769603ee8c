/** Vulnerabilities of single dependencies, for the areas that list them. */
import { sql } from 'kysely';

/** A vulnerability of a dependency; `severity` is the index in the list of severities. */
export interface FoundVulnerability {
  id: number;
  name: string;
  severity: number;
}

/** The vulnerabilities that affect each row of `dependencies`, most severe first. */
export const vulnerabilitiesOfDependency = sql<FoundVulnerability[]>`coalesce((
  select json_agg(json_build_object('id', id, 'name', name, 'severity', severity) order by severity desc, id)
    from (select distinct vulnerabilities.id, vulnerabilities.name, vulnerabilities.severity
            from package_advisories
            join advisories on advisories.id = package_advisories.advisory_id
            join vulnerabilities on vulnerabilities.cluster = advisories.cluster and vulnerabilities.project_id = dependencies.project_id
           where package_advisories.package_version_id = dependencies.package_version_id
          union
          select vulnerabilities.id, vulnerabilities.name, vulnerabilities.severity
            from vulnerability_findings findings
            join vulnerabilities on vulnerabilities.project_id = findings.project_id and vulnerabilities.cluster = findings.cluster
           where findings.project_id = dependencies.project_id and findings.report_type = 'dependency_scanning'
             and findings.package_name = dependencies.name and findings.package_version = dependencies.version) found), '[]')`;
