-- Security policies: projects with a file of policies, and the groups and projects that are linked to them.
create table security_policy_links (
  id bigint generated always as identity not null,
  project_id bigint,
  group_id bigint,
  policy_project_id bigint not null,
  created_at timestamp with time zone default now() not null,
  constraint security_policy_links_pkey primary key (id),
  constraint security_policy_links_project_key unique (project_id),
  constraint security_policy_links_group_key unique (group_id),
  constraint security_policy_links_have_one_owner check (num_nonnulls(project_id, group_id) = 1),
  constraint security_policy_links_not_itself check (project_id <> policy_project_id),
  constraint security_policy_links_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint security_policy_links_group_id_fkey foreign key (group_id) references namespaces(id) on delete cascade,
  constraint security_policy_links_policy_project_id_fkey foreign key (policy_project_id) references projects(id) on delete cascade
);
create index security_policy_links_by_policy_project on security_policy_links using btree (policy_project_id);
comment on table security_policy_links is 'Which project has the policies of a project, or of all projects in a group.';
comment on column security_policy_links.policy_project_id is 'The project with the file. Its policies are in force while it is in the same top-level group and neither archived nor marked for deletion.';

create table security_policy_files (
  project_id bigint not null,
  policies jsonb default '[]' not null,
  commit_id text,
  blob_id text,
  read_blob_id text,
  errors text[] default '{}' not null,
  changed_at timestamp with time zone default now() not null,
  constraint security_policy_files_pkey primary key (project_id),
  constraint security_policy_files_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);
comment on table security_policy_files is 'The files of security policies of projects that something is linked to.';
comment on column security_policy_files.policies is 'Those of the last good version, as src/security_policies reads them.';
comment on column security_policy_files.commit_id is 'The commit of the default branch from which the last good version was read; null before there was one.';
comment on column security_policy_files.blob_id is 'The last good version; null if the file is gone.';
comment on column security_policy_files.read_blob_id is 'The newest version that was read, good or not; null if the file is gone.';
comment on column security_policy_files.errors is 'What is wrong with the newest version, so that it is not in force.';
comment on column security_policy_files.changed_at is 'When the policies in force changed last.';
