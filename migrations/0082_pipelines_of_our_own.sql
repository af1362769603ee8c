-- Pipelines that the server makes of a configuration stand beside those of reported statuses, and their jobs beside the statuses, in the same order and with the same numbers.
alter table pipelines
  add column source text not null default 'external',
  add column before_sha text,
  add column name text,
  add column yaml_errors text,
  add column failure_reason text,
  add column is_protected boolean not null default false,
  add column requested_as text,
  add column on_new_commit text not null default 'conservative',
  add column on_job_failure text not null default 'none',
  drop constraint pipelines_of_commit,
  drop constraint pipelines_status_check,
  add constraint pipelines_status_check check (status in (
    'created', 'waiting_for_resource', 'preparing', 'scheduled', 'manual', 'pending', 'running', 'canceling', 'success', 'failed', 'canceled', 'skipped'
  )),
  add constraint pipelines_source_check check (source in (
    'push', 'web', 'trigger', 'schedule', 'api', 'external', 'pipeline', 'parent_pipeline', 'merge_request_event'
  )),
  add constraint pipelines_on_new_commit_check check (on_new_commit in ('conservative', 'interruptible', 'none', 'disabled')),
  add constraint pipelines_on_job_failure_check check (on_job_failure in ('none', 'all'));
create unique index pipelines_of_commit on pipelines using btree (project_id, sha, ref) where source = 'external';
create unique index pipelines_requested on pipelines using btree (requested_as) where requested_as is not null;
create index pipelines_by_commit on pipelines using btree (project_id, sha, id);
drop index pipelines_open;
create index pipelines_open on pipelines using btree (id) where status not in ('success', 'failed', 'canceled', 'skipped');
create index pipelines_open_of_ref on pipelines using btree (project_id, ref, id)
  where source <> 'external' and status not in ('success', 'failed', 'canceled', 'skipped');
comment on table pipelines is 'Pipelines of a configuration, and of external systems: the statuses of a commit and ref together.';
comment on column pipelines.status is 'Derived from the current jobs or statuses.';
comment on column pipelines.before_sha is 'The commit before the push; null for other sources, and for the first push.';
comment on column pipelines.yaml_errors is 'Why the configuration could not be compiled.';
comment on column pipelines.requested_as is 'What it was made for, such as a push, which makes one pipeline however often it is worked on.';
comment on column pipelines.is_protected is 'Whether its jobs get what is for protected branches and tags only.';

create table resource_groups (
  id bigint generated always as identity not null,
  project_id bigint not null,
  key text not null,
  process_mode text default 'unordered' not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint resource_groups_pkey primary key (id),
  constraint resource_groups_key unique (project_id, key),
  constraint resource_groups_process_mode_check check (process_mode in ('unordered', 'oldest_first', 'newest_first', 'newest_ready_first')),
  constraint resource_groups_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);
comment on table resource_groups is 'What only one job of a project may use at a time, such as a machine to deploy to.';

alter table commit_statuses
  add column kind text not null default 'status',
  add column stage text,
  add column stage_index integer,
  add column allow_failure boolean not null default false,
  add column run_when text,
  add column needs text[],
  add column failure_reason text,
  add column queued_at timestamp with time zone,
  add column scheduled_at timestamp with time zone,
  add column interruptible boolean not null default false,
  add column resource_group_id bigint,
  add column environment text,
  add column tags text[],
  drop constraint commit_statuses_status_check,
  add constraint commit_statuses_status_check check (status in (
    'created', 'waiting_for_resource', 'preparing', 'scheduled', 'manual', 'pending', 'running', 'canceling', 'success', 'failed', 'canceled', 'skipped'
  )),
  add constraint commit_statuses_kind_check check (kind in ('status', 'job', 'bridge')),
  add constraint commit_statuses_run_when_check check (run_when in ('on_success', 'on_failure', 'always', 'manual', 'delayed')),
  add constraint commit_statuses_job_check check (kind = 'status' or (pipeline_id is not null and stage is not null and stage_index is not null and run_when is not null)),
  add constraint commit_statuses_resource_group_id_fkey foreign key (resource_group_id) references resource_groups(id);
drop index commit_statuses_current;
create unique index commit_statuses_current on commit_statuses using btree (project_id, sha, ref, name) where not retried and kind = 'status';
create unique index commit_statuses_current_jobs on commit_statuses using btree (pipeline_id, name) where not retried and kind <> 'status';
create index commit_statuses_by_resource_group on commit_statuses using btree (resource_group_id, id) where resource_group_id is not null;
comment on table commit_statuses is 'Statuses of commits that other systems report, and jobs of pipelines. One that has ended is kept and marked as retried when the next one of its name begins.';
comment on column commit_statuses.stage is 'Null for a reported status.';
comment on column commit_statuses.run_when is 'The condition that the job starts under, among the jobs before it.';
comment on column commit_statuses.needs is 'The names of the jobs that it waits for; null if it waits for all of the earlier stages.';
comment on column commit_statuses.queued_at is 'When it became pending.';
comment on column commit_statuses.scheduled_at is 'When a delayed job starts.';
comment on column commit_statuses.environment is 'The name of the environment that it deploys to, as far as it was known when the pipeline was made.';

alter table projects add column auto_cancel_pending_pipelines text not null default 'enabled',
  add constraint projects_auto_cancel_pending_pipelines_check check (auto_cancel_pending_pipelines in ('enabled', 'disabled'));

alter table application_settings add column pipelines_for_pushes boolean not null default false;
comment on column application_settings.pipelines_for_pushes is 'Whether a push makes a pipeline of the configuration in it.';

drop trigger raise_rights_version on projects;
create trigger raise_rights_version
  after insert or delete or update of namespace_id, name, path, full_path, visibility, storage, default_branch, empty_repo, archived, marked_for_deletion_at,
    import_status, freeze_blocks_pushes, issues_access_level, repository_access_level, merge_requests_access_level, forking_access_level, snippets_access_level,
    environments_access_level, wiki_access_level, releases_access_level, feature_flags_access_level, builds_access_level
  on projects for each statement execute function raise_rights_version();

create table job_definitions (
  job_id bigint not null,
  definition jsonb not null,
  constraint job_definitions_pkey primary key (job_id),
  constraint job_definitions_job_id_fkey foreign key (job_id) references commit_statuses(id) on delete cascade
);
comment on table job_definitions is 'What a runner executes for a job: its part of the compiled configuration.';

create table pipeline_variables (
  id bigint generated always as identity not null,
  pipeline_id bigint not null,
  key text not null,
  value bytea not null,
  variable_type text not null,
  raw boolean not null,
  constraint pipeline_variables_pkey primary key (id),
  constraint pipeline_variables_key unique (pipeline_id, key),
  constraint pipeline_variables_variable_type_check check (variable_type in ('env_var', 'file')),
  constraint pipeline_variables_pipeline_id_fkey foreign key (pipeline_id) references pipelines(id) on delete cascade
);
comment on table pipeline_variables is 'Variables that whoever started a pipeline gave it.';
comment on column pipeline_variables.value is 'Encrypted.';
