-- Pipelines that start at set times.
create table pipeline_schedules (
  id bigint generated always as identity not null,
  project_id bigint not null,
  owner_id bigint not null,
  description text not null,
  ref text not null,
  cron text not null,
  cron_timezone text default 'UTC' not null,
  active boolean default true not null,
  inputs jsonb default '{}' not null,
  next_run_at timestamp with time zone,
  last_run_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint pipeline_schedules_pkey primary key (id),
  constraint pipeline_schedules_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint pipeline_schedules_owner_id_fkey foreign key (owner_id) references users(id) on delete cascade
);
create index pipeline_schedules_by_project on pipeline_schedules using btree (project_id, id);
create index pipeline_schedules_by_owner on pipeline_schedules using btree (owner_id);
create index pipeline_schedules_due on pipeline_schedules using btree (next_run_at) where active;
comment on table pipeline_schedules is 'When pipelines of a branch or tag start by themselves, in the name of an owner.';
comment on column pipeline_schedules.ref is 'The full name: refs/heads/… or refs/tags/….';
comment on column pipeline_schedules.inputs is 'Values for the inputs that the configuration declares.';
comment on column pipeline_schedules.next_run_at is 'When it is due; null if its line never occurs again.';
comment on column pipeline_schedules.last_run_at is 'When it was last due, which the next time keeps its distance from.';

create table pipeline_schedule_variables (
  id bigint generated always as identity not null,
  schedule_id bigint not null,
  key text not null,
  value bytea not null,
  variable_type text not null,
  constraint pipeline_schedule_variables_pkey primary key (id),
  constraint pipeline_schedule_variables_key unique (schedule_id, key),
  constraint pipeline_schedule_variables_variable_type_check check (variable_type in ('env_var', 'file')),
  constraint pipeline_schedule_variables_schedule_id_fkey foreign key (schedule_id) references pipeline_schedules(id) on delete cascade
);
comment on table pipeline_schedule_variables is 'Variables that the pipelines of a schedule get.';
comment on column pipeline_schedule_variables.value is 'Encrypted.';

alter table pipelines
  add column schedule_id bigint,
  add column predefined jsonb default '{}' not null,
  add constraint pipelines_schedule_id_fkey foreign key (schedule_id) references pipeline_schedules(id) on delete set null;
create index pipelines_by_schedule on pipelines using btree (schedule_id, id) where schedule_id is not null;
comment on column pipelines.schedule_id is 'The schedule that started it.';
comment on column pipelines.predefined is 'Predefined variables about what started it, as they were then.';
