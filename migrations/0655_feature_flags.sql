-- Feature flags, which the applications of a project ask for through SDKs of Unleash (docs/reference/feature_flags.md).
set local lock_timeout = '5s';

alter table projects
  add column feature_flags_access_level text not null default 'enabled' check (feature_flags_access_level in ('disabled', 'private', 'enabled'));

-- The level decides on rights as those of the other features do.
drop trigger raise_rights_version on projects;
create trigger raise_rights_version
  after insert or delete or update of
    namespace_id, name, path, full_path, visibility, storage, default_branch, empty_repo, archived, marked_for_deletion_at, import_status, freeze_blocks_pushes,
    issues_access_level, repository_access_level, merge_requests_access_level, forking_access_level, snippets_access_level, environments_access_level,
    wiki_access_level, releases_access_level, feature_flags_access_level
  on projects for each statement execute function raise_rights_version();

alter table application_settings
  add column project_feature_flags_limit integer not null default 200 check (project_feature_flags_limit >= 0),
  add column feature_flags_unleash_requests_limit integer not null default 0 check (feature_flags_unleash_requests_limit >= 0);

alter table internal_ids drop constraint internal_ids_usage_check;
alter table internal_ids add constraint internal_ids_usage_check
  check (usage in ('issues', 'milestones', 'epics', 'iterations', 'merge_requests', 'feature_flags', 'feature_flag_user_lists'));

create table feature_flags (
  id          bigint generated always as identity primary key,
  project_id  bigint not null references projects (id) on delete cascade,
  iid         integer not null,
  name        text not null,
  description text,
  active      boolean not null default true,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  constraint feature_flags_name unique (project_id, name),
  constraint feature_flags_iid unique (project_id, iid)
);

create table feature_flag_user_lists (
  id         bigint generated always as identity primary key,
  project_id bigint not null references projects (id) on delete cascade,
  iid        integer not null,
  name       text not null,
  user_xids  text not null default '',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint feature_flag_user_lists_name unique (project_id, name),
  constraint feature_flag_user_lists_iid unique (project_id, iid)
);

-- A list that a strategy uses is not deleted. The cascade is for projects, whose flags and lists go in any order.
create table feature_flag_strategies (
  id              bigint generated always as identity primary key,
  feature_flag_id bigint not null references feature_flags (id) on delete cascade,
  name            text not null check (name in ('default', 'flexibleRollout', 'gradualRolloutUserId', 'userWithId', 'gitlabUserList')),
  parameters      jsonb not null default '{}',
  user_list_id    bigint references feature_flag_user_lists (id) on delete cascade,
  check (user_list_id is null or name = 'gitlabUserList')
);
create index feature_flag_strategies_by_flag on feature_flag_strategies (feature_flag_id, id);
create index feature_flag_strategies_by_user_list on feature_flag_strategies (user_list_id) where user_list_id is not null;

create table feature_flag_scopes (
  id                bigint generated always as identity primary key,
  strategy_id       bigint not null references feature_flag_strategies (id) on delete cascade,
  environment_scope text not null,
  constraint feature_flag_scopes_environment unique (strategy_id, environment_scope)
);

-- What the applications of a project identify themselves with, from when it is first asked for. The version is raised by each change of what they get.
create table feature_flag_clients (
  project_id      bigint primary key references projects (id) on delete cascade,
  instance_id     bytea not null,
  instance_digest bytea not null,
  version         bigint not null default 1,
  last_seen_at    timestamptz,
  sdk             text
) with (fillfactor = 70);
