-- What pushes to a project must keep to. The rule of a group is a template, which is copied to its new projects.
create table push_rules (
  id                            bigint generated always as identity primary key,
  project_id                    bigint unique references projects on delete cascade,
  group_id                      bigint unique references namespaces on delete cascade,
  -- Expressions in RE2 syntax; null and empty ones check nothing.
  commit_message_regex          text,
  commit_message_negative_regex text,
  branch_name_regex             text,
  author_email_regex            text,
  file_name_regex               text,
  deny_delete_tag               boolean not null default false,
  member_check                  boolean not null default false,
  prevent_secrets               boolean not null default false,
  commit_committer_check        boolean not null default false,
  commit_committer_name_check   boolean not null default false,
  reject_unsigned_commits       boolean not null default false,
  reject_non_dco_commits        boolean not null default false,
  -- In MiB; 0 is no limit.
  max_file_size                 integer not null default 0 check (max_file_size >= 0),
  created_at                    timestamptz not null default now(),
  updated_at                    timestamptz not null default now(),
  check (num_nonnulls(project_id, group_id) = 1)
);
