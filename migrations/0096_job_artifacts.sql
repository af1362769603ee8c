-- Files that jobs leave: an archive, and reports.
create table job_artifacts (
  id bigint generated always as identity not null,
  job_id bigint not null,
  project_id bigint not null,
  file_type text not null,
  file_format text not null,
  filename text not null,
  size_bytes bigint not null,
  sha256 text not null,
  accessibility text not null,
  blob_key text not null,
  expire_at timestamp with time zone,
  look_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint job_artifacts_pkey primary key (id),
  constraint job_artifacts_file_type unique (job_id, file_type),
  constraint job_artifacts_file_format_check check (file_format in ('zip', 'gzip', 'raw')),
  constraint job_artifacts_accessibility_check check (accessibility in ('all', 'developer', 'none')),
  constraint job_artifacts_expiry_check check ((expire_at is null) = (look_at is null)),
  constraint job_artifacts_job_id_fkey foreign key (job_id) references commit_statuses(id) on delete cascade,
  constraint job_artifacts_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);
create unique index job_artifacts_blob_key on job_artifacts using btree (blob_key);
create index job_artifacts_by_project on job_artifacts using btree (project_id, id);
create index job_artifacts_due on job_artifacts using btree (look_at) where look_at is not null;
comment on table job_artifacts is 'Files that jobs leave: an archive, and one of each type of report.';
comment on column job_artifacts.accessibility is 'Who may read it, of those who may read the job.';
comment on column job_artifacts.look_at is 'When a job looks whether it can be deleted: at its end, and again while it is kept as the latest of its branch.';

create function keep_unused_artifact() returns trigger language plpgsql as $$
begin
  insert into unused_blobs (key) select blob_key from removed on conflict do nothing;
  return null;
end $$;
create trigger keep_unused_artifact after delete on job_artifacts
  referencing old table as removed for each statement execute function keep_unused_artifact();

create table job_test_suites (
  artifact_id bigint not null,
  success integer default 0 not null,
  failed integer default 0 not null,
  skipped integer default 0 not null,
  error integer default 0 not null,
  total_time double precision default 0 not null,
  suite_error text,
  constraint job_test_suites_pkey primary key (artifact_id),
  constraint job_test_suites_artifact_id_fkey foreign key (artifact_id) references job_artifacts(id) on delete cascade
);
comment on table job_test_suites is 'How the tests of a job ended, by the report in the format of JUnit that it left.';
comment on column job_test_suites.suite_error is 'Why the report cannot be read.';

create table job_dotenv_variables (
  id bigint generated always as identity not null,
  job_id bigint not null,
  key text not null,
  value bytea not null,
  constraint job_dotenv_variables_pkey primary key (id),
  constraint job_dotenv_variables_key unique (job_id, key),
  constraint job_dotenv_variables_job_id_fkey foreign key (job_id) references commit_statuses(id) on delete cascade
);
comment on table job_dotenv_variables is 'Variables that a job leaves to later jobs.';
comment on column job_dotenv_variables.value is 'Encrypted.';

alter table application_settings
  add column max_artifacts_size integer default 100 not null,
  add column default_artifacts_expire_in text default '30 days' not null,
  add column keep_latest_artifact boolean default true not null;
alter table namespaces add column max_artifacts_size integer;
alter table projects
  add column max_artifacts_size integer,
  add column keep_latest_artifact boolean default true not null;
comment on column application_settings.max_artifacts_size is 'In MiB.';
comment on column namespaces.max_artifacts_size is 'In MiB; null: as the group above it, or the server, says.';
comment on column projects.max_artifacts_size is 'In MiB; null: as the group, or the server, says.';
