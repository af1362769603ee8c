-- Runners fetch jobs, report what becomes of them and append to their logs.
create table runners (
  id bigint generated always as identity not null,
  runner_type text not null,
  namespace_id bigint,
  created_by_id bigint,
  is_registered boolean not null,
  token_digest bytea not null,
  token_expires_at timestamp with time zone,
  description text default '' not null,
  maintenance_note text,
  paused boolean default false not null,
  locked boolean default false not null,
  run_untagged boolean default true not null,
  tag_list text[] default '{}' not null,
  access_level text default 'not_protected' not null,
  maximum_timeout integer,
  contacted_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint runners_pkey primary key (id),
  constraint runners_token_digest unique (token_digest),
  constraint runners_runner_type_check check (runner_type in ('instance_type', 'group_type', 'project_type')),
  constraint runners_access_level_check check (access_level in ('not_protected', 'ref_protected')),
  constraint runners_group_check check ((runner_type = 'group_type') = (namespace_id is not null)),
  constraint runners_maximum_timeout_check check (maximum_timeout >= 600),
  constraint runners_untagged_check check (run_untagged or cardinality(tag_list) > 0),
  constraint runners_namespace_id_fkey foreign key (namespace_id) references namespaces(id) on delete cascade,
  constraint runners_created_by_id_fkey foreign key (created_by_id) references users(id)
);
create index runners_by_group on runners using btree (namespace_id, id) where namespace_id is not null;
create index runners_by_creator on runners using btree (created_by_id);
comment on table runners is 'Programs on other machines that execute jobs. They connect to the server, never the other way round.';
comment on column runners.is_registered is 'Whether it was made with a registration token, rather than by a person.';
comment on column runners.tag_list is 'Sorted; a job is for the runners that have all of its tags.';
comment on column runners.maximum_timeout is 'Seconds that a job may take on it.';

create table runner_projects (
  runner_id bigint not null,
  project_id bigint not null,
  is_owner boolean default false not null,
  created_at timestamp with time zone default now() not null,
  constraint runner_projects_pkey primary key (runner_id, project_id),
  constraint runner_projects_runner_id_fkey foreign key (runner_id) references runners(id) on delete cascade,
  constraint runner_projects_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);
create index runner_projects_by_project on runner_projects using btree (project_id, runner_id);
create unique index runner_projects_owner on runner_projects using btree (runner_id) where is_owner;
comment on table runner_projects is 'The projects that a runner of projects takes jobs of.';
comment on column runner_projects.is_owner is 'Whether it is the project that the runner was made in.';

create table runner_managers (
  id bigint generated always as identity not null,
  runner_id bigint not null,
  system_id text not null,
  version text,
  revision text,
  platform text,
  architecture text,
  ip_address text,
  contacted_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint runner_managers_pkey primary key (id),
  constraint runner_managers_system_id unique (runner_id, system_id),
  constraint runner_managers_runner_id_fkey foreign key (runner_id) references runners(id) on delete cascade
);
create index runner_managers_by_contact on runner_managers using btree (contacted_at);
comment on table runner_managers is 'The machines on which a runner executes: several may share its token.';

alter table commit_statuses
  add column runner_id bigint,
  add column runner_manager_id bigint,
  add column erased_at timestamp with time zone,
  add constraint commit_statuses_runner_id_fkey foreign key (runner_id) references runners(id) on delete set null,
  add constraint commit_statuses_runner_manager_id_fkey foreign key (runner_manager_id) references runner_managers(id) on delete set null;
create index commit_statuses_by_runner on commit_statuses using btree (runner_id, id) where runner_id is not null;
create index commit_statuses_by_runner_manager on commit_statuses using btree (runner_manager_id) where runner_manager_id is not null;
create index commit_statuses_queue on commit_statuses using btree (project_id, id) where kind = 'job' and status = 'pending';
create index commit_statuses_running on commit_statuses using btree (project_id) where kind = 'job' and status in ('running', 'canceling');

create table job_runs (
  job_id bigint not null,
  token_digest bytea not null,
  can_cancel_gracefully boolean not null,
  timeout_s integer not null,
  handed_out integer default 1 not null,
  handed_out_at timestamp with time zone default now() not null,
  acknowledged_at timestamp with time zone,
  seen_at timestamp with time zone default now() not null,
  canceling_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint job_runs_pkey primary key (job_id),
  constraint job_runs_token_digest unique (token_digest),
  constraint job_runs_job_id_fkey foreign key (job_id) references commit_statuses(id) on delete cascade
);
create index job_runs_open on job_runs using btree (job_id) where ended_at is null;
comment on table job_runs is 'How a runner holds a job that it was given.';
comment on column job_runs.token_digest is 'Of the token of the job, which is valid until the job ends.';
comment on column job_runs.handed_out is 'How often it was given to a runner.';
comment on column job_runs.acknowledged_at is 'When the runner first said something of it.';
comment on column job_runs.ended_at is 'Null while the runner may report.';

create table job_logs (
  job_id bigint not null,
  size bigint default 0 not null,
  crc32 bigint default 0 not null,
  kept_size bigint default 0 not null,
  held_back bytea,
  was_resent boolean default false not null,
  debug_trace boolean default false not null,
  constraint job_logs_pkey primary key (job_id),
  constraint job_logs_job_id_fkey foreign key (job_id) references commit_statuses(id) on delete cascade
);
comment on table job_logs is 'The logs of jobs, which are kept in pieces.';
comment on column job_logs.size is 'Bytes that the runner sent.';
comment on column job_logs.crc32 is 'Of the bytes that the runner sent.';
comment on column job_logs.kept_size is 'Bytes that are kept: masked values have another length.';
comment on column job_logs.held_back is 'The last bytes, encrypted, while they may be the beginning of a masked value.';
comment on column job_logs.was_resent is 'Whether the runner was asked once to send the log from its beginning.';
comment on column job_logs.debug_trace is 'Whether the job printed its variables, so that only Developers may read the log.';

create table job_log_pieces (
  job_id bigint not null,
  position bigint not null,
  content bytea not null,
  constraint job_log_pieces_pkey primary key (job_id, position),
  constraint job_log_pieces_job_id_fkey foreign key (job_id) references job_logs(job_id) on delete cascade
);
comment on table job_log_pieces is 'Pieces of logs, by the position of their first byte in what is kept.';
