/** Vulnerabilities in replies. */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { fixIn, type Range, type Severity, severities } from '../../../advisories/index.ts';
import { momentInJson } from '../../../db/index.ts';
import { pagePath } from '../../../foundation/addresses.ts';
import { Address, Id, Markdown, nullable, resource, Timestamp } from '../../../http/index.ts';
import { reportTypes } from '../../../security_reports/index.ts';

export const Severities = Type.Enum([...severities]);
export const State = Type.Enum(['detected', 'dismissed', 'resolved']);

export const ReportType = Type.Enum([...reportTypes], {
  description: 'The kind of the reports of jobs that found it; `dependency_scanning` also for what advisories say',
});

const core = {
  id: Id,
  project_id: Id,
  name: Type.String({ description: 'The CVE ID, otherwise a summary or the ID of the record' }),
  severity: Severities,
  state: State,
  report_type: ReportType,
  present: Type.Boolean({ description: 'Whether a dependency is affected, or a job has found it, now' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  url: Address(),
};

export const Vulnerability = resource('Vulnerability', core);

export const VulnerabilityDetails = resource('VulnerabilityDetails', {
  ...core,
  advisories: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Of the OSV record' }),
      summary: Type.String(),
      details: Markdown({ description: 'Markdown' }),
      aliases: Type.Array(Type.String()),
      links: Type.Array(Address()),
    }),
    { description: 'The records about it, at most 20' },
  ),
  findings: Type.Array(
    Type.Object({
      job_id: Id,
      description: Type.String({ description: 'As the scanner wrote it' }),
      solution: nullable(Type.String()),
      location: Type.Record(Type.String(), Type.Unknown(), {
        description:
          'Of `file`, `start_line`, `end_line`, `class`, `method`, `image`, `operating_system`, `hostname`, `path` and `param`, what the scanner says',
      }),
      identifiers: Type.Array(
        Type.Object({ type: Type.String(), name: Type.String(), value: Type.String(), url: nullable(Address()) }),
      ),
      links: Type.Array(Address()),
      package: nullable(Type.String()),
      version: nullable(Type.String()),
    }),
    { description: 'What reports of jobs say of it now, at most 20' },
  ),
  dependencies: Type.Array(
    Type.Object({
      name: Type.String(),
      version: Type.String(),
      package_manager: Type.String(),
      dependency_file_path: Type.String(),
      direct: nullable(
        Type.Boolean({ description: 'Whether the project names it itself; null when the file does not say' }),
      ),
      development: Type.Boolean({ description: 'Whether it is only needed for development' }),
      fixed_version: nullable(Type.String({ description: 'The first later version that is not affected' })),
    }),
    { description: 'What is affected, at most 100' },
  ),
  state_changes: Type.Array(
    Type.Object({
      user: nullable(Type.Object({ id: Id, username: Type.String(), name: Type.String() })),
      from_state: State,
      to_state: State,
      comment: nullable(Type.String()),
      created_at: Timestamp,
    }),
    { description: 'The last 100, oldest first; `user` is null for changes by the server' },
  ),
});

/** The severity for its stored number. */
export const severityOf = (place: number): Severity => severities[place]!;

export const vulnerabilityPage = pagePath('/:project/-/security/vulnerabilities/:vulnerability_id');

export const vulnerabilityColumns = [
  'id',
  'project_id',
  'name',
  'severity',
  'state',
  'is_present',
  'report_type',
  'created_at',
  'updated_at',
] as const;

interface ShownVulnerability {
  id: number;
  project_id: number;
  name: string;
  severity: number;
  state: string;
  is_present: boolean;
  report_type: string | null;
  created_at: string;
  updated_at: string;
}

/** A vulnerability in lists. */
export const presentVulnerability = (
  { severity, state, is_present, report_type, ...row }: ShownVulnerability,
  place: { url: string; full_path: string },
): Static<typeof Vulnerability> => ({
  id: row.id,
  project_id: row.project_id,
  name: row.name,
  severity: severityOf(severity),
  state: state as Static<typeof State>,
  report_type: (report_type ?? 'dependency_scanning') as Static<typeof ReportType>,
  present: is_present,
  created_at: row.created_at,
  updated_at: row.updated_at,
  url: place.url + vulnerabilityPage(place.full_path, row.id),
});

type Details = Static<typeof VulnerabilityDetails>;

/** An affected dependency with the ranges of all advisories about its package in the vulnerability. */
interface AffectedRow extends Omit<Details['dependencies'][number], 'fixed_version'> {
  ecosystem: string;
  ranges: Range[];
}

export const presentAffected = ({
  ecosystem,
  ranges,
  ...dependency
}: AffectedRow): Details['dependencies'][number] => ({
  ...dependency,
  fixed_version: fixIn(ecosystem, dependency.version, ranges) ?? null,
});

/** Members that only the reply for a single vulnerability has, from a row of `vulnerabilities`. */
export const details = {
  advisories: sql<Details['advisories']>`coalesce((
    select json_agg(json_build_object('id', record_id, 'summary', summary, 'details', details, 'aliases', aliases, 'links', links) order by record_id)
      from (select * from advisories where advisories.cluster = vulnerabilities.cluster order by record_id limit 20) advisories), '[]')`,
  findings: sql<Details['findings']>`coalesce((
    select json_agg(json_build_object('job_id', job_id, 'description', description, 'solution', solution, 'location', location, 'identifiers', identifiers,
                                      'links', links, 'package', package_name, 'version', package_version) order by id)
      from (select * from vulnerability_findings
             where vulnerability_findings.project_id = vulnerabilities.project_id and vulnerability_findings.cluster = vulnerabilities.cluster
             order by id limit 20) findings), '[]')`,
  dependencies: sql<AffectedRow[]>`coalesce((
    select json_agg(json_build_object('name', name, 'version', version, 'package_manager', package_manager, 'dependency_file_path', path,
                                      'direct', direct, 'development', development, 'ecosystem', ecosystem, 'ranges', coalesce((
                      select jsonb_agg(range) from advisories join advisory_packages on advisory_id = advisories.id, jsonb_array_elements(ranges) range
                       where cluster = vulnerabilities.cluster and advisory_packages.ecosystem = dependencies.ecosystem
                         and advisory_packages.advised_name = dependencies.advised_name), '[]')) order by id)
      from (select distinct dependencies.*, package_versions.ecosystem, package_versions.advised_name from advisories
              join package_advisories on advisory_id = advisories.id join dependencies using (package_version_id)
              join package_versions on package_versions.id = package_version_id
             where advisories.cluster = vulnerabilities.cluster and dependencies.project_id = vulnerabilities.project_id
             order by dependencies.id limit 100) dependencies), '[]')`,
  state_changes: sql<Details['state_changes']>`coalesce((
    select json_agg(json_build_object(
             'user', case when users.id is not null then json_build_object('id', users.id, 'username', users.username, 'name', users.name) end,
             'from_state', from_state, 'to_state', to_state, 'comment', comment, 'created_at', ${momentInJson('changes.created_at')}) order by changes.id)
      from (select * from vulnerability_state_changes where vulnerability_id = vulnerabilities.id order by id desc limit 100) changes
      left join users on users.id = changes.user_id), '[]')`,
} satisfies Record<string, RawBuilder<unknown>>;
