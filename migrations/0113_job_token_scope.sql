-- What jobs may do with their tokens: where they push, and which other projects let them in.
alter table projects
  add column ci_inbound_job_token_scope_enabled boolean default true not null,
  add column ci_push_repository_for_job_token_allowed boolean default false not null;
comment on column projects.ci_inbound_job_token_scope_enabled is 'Whether only jobs of the projects and groups on its lists get in with the rights of their users.';
comment on column projects.ci_push_repository_for_job_token_allowed is 'Whether its own jobs may push to it.';

create table job_token_projects (
  project_id bigint not null,
  allowed_id bigint not null,
  created_at timestamp with time zone default now() not null,
  constraint job_token_projects_pkey primary key (project_id, allowed_id),
  constraint job_token_projects_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint job_token_projects_allowed_id_fkey foreign key (allowed_id) references projects(id) on delete cascade,
  constraint job_token_projects_others check (project_id <> allowed_id)
);
create index job_token_projects_by_allowed on job_token_projects using btree (allowed_id);
comment on table job_token_projects is 'Projects whose jobs get into another project.';
comment on column job_token_projects.project_id is 'The project that they get into.';

create table job_token_groups (
  project_id bigint not null,
  group_id bigint not null,
  created_at timestamp with time zone default now() not null,
  constraint job_token_groups_pkey primary key (project_id, group_id),
  constraint job_token_groups_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint job_token_groups_group_id_fkey foreign key (group_id) references namespaces(id) on delete cascade
);
create index job_token_groups_by_group on job_token_groups using btree (group_id);
comment on table job_token_groups is 'Groups whose jobs, of all projects below them, get into a project.';
comment on column job_token_groups.project_id is 'The project that they get into.';
