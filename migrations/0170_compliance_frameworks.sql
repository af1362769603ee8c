-- What a top-level group demands of its projects (docs/reference/compliance_frameworks.md).
create table compliance_frameworks (
  id bigint generated always as identity not null,
  group_id bigint not null,
  name text not null,
  description text not null,
  color text not null,
  is_default boolean default false not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint compliance_frameworks_pkey primary key (id),
  constraint compliance_frameworks_name_key unique (group_id, name),
  constraint compliance_frameworks_group_id_fkey foreign key (group_id) references namespaces(id) on delete cascade
);
create unique index compliance_frameworks_default_key on compliance_frameworks using btree (group_id) where is_default;
comment on table compliance_frameworks is 'Named sets of requirements that a top-level group has for its projects.';
comment on column compliance_frameworks.is_default is 'Whether new projects in the group get it.';

create table compliance_requirements (
  id bigint generated always as identity not null,
  framework_id bigint not null,
  name text not null,
  description text,
  controls text[] not null,
  constraint compliance_requirements_pkey primary key (id),
  constraint compliance_requirements_name_key unique (framework_id, name),
  constraint compliance_requirements_framework_id_fkey foreign key (framework_id) references compliance_frameworks(id) on delete cascade
);
create index compliance_requirements_in_order on compliance_requirements using btree (framework_id, id);
comment on table compliance_requirements is 'The requirements of frameworks, in the order in which they were given.';
comment on column compliance_requirements.controls is 'The names of the controls that a project has to pass, all of them.';

create table project_compliance_frameworks (
  project_id bigint not null,
  framework_id bigint not null,
  constraint project_compliance_frameworks_pkey primary key (project_id, framework_id),
  constraint project_compliance_frameworks_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint project_compliance_frameworks_framework_id_fkey foreign key (framework_id) references compliance_frameworks(id) on delete cascade
);
create index project_compliance_frameworks_by_framework on project_compliance_frameworks using btree (framework_id, project_id);
comment on table project_compliance_frameworks is 'The frameworks of projects.';
