-- Vulnerabilities that the reports of jobs name.
create table vulnerability_findings (
  id bigint generated always as identity not null,
  project_id bigint not null,
  job_id bigint not null,
  cluster text not null,
  report_type text not null,
  name text not null,
  severity smallint not null,
  description text not null,
  solution text,
  location jsonb not null,
  identifiers jsonb not null,
  links text[] not null,
  package_name text,
  package_version text,
  constraint vulnerability_findings_pkey primary key (id),
  constraint vulnerability_findings_severity_check check (severity >= 0 and severity <= 5),
  constraint vulnerability_findings_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint vulnerability_findings_job_id_fkey foreign key (job_id) references commit_statuses(id) on delete cascade
);
create index vulnerability_findings_by_cluster on vulnerability_findings using btree (project_id, cluster, id);
create index vulnerability_findings_by_package on vulnerability_findings using btree (project_id, package_name, package_version) where package_name is not null;
create index vulnerability_findings_of_jobs on vulnerability_findings using btree (job_id);
comment on table vulnerability_findings is 'What the reports of jobs of the newest pipeline of default branches found.';
comment on column vulnerability_findings.cluster is 'Of the vulnerability: the kind of the report and a digest of what was found where.';
comment on column vulnerability_findings.severity is 'The position in: unknown, info, low, medium, high, critical.';
comment on column vulnerability_findings.package_name is 'The package that it is about, as dependencies name it; null for what is about no package.';

alter table vulnerabilities add column report_type text;
comment on column vulnerabilities.report_type is 'The kind of the reports of jobs that name it; null for what an advisory says.';
comment on table vulnerabilities is 'Vulnerabilities of projects, one per cluster of advisories about their dependencies, and one per finding of the reports of jobs.';
