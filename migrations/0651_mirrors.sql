-- Mirrors of repositories: those that are pushed to, and the one that a project is pulled from.
set local lock_timeout = '5s';

alter table application_settings
  add column mirror_available boolean not null default true,
  add column mirror_max_delay integer not null default 300 check (mirror_max_delay >= 1),
  add column mirror_max_capacity integer not null default 100 check (mirror_max_capacity >= 1),
  add column mirror_capacity_threshold integer not null default 50 check (mirror_capacity_threshold >= 1);

create table remote_mirrors (
  id                        bigint generated always as identity primary key,
  project_id                bigint not null references projects (id) on delete cascade,
  enabled                   boolean not null default false,
  -- Without user and password, but with the user of SSH.
  url                       text not null,
  -- The user, the password and the private key, encrypted as JSON; null without any.
  login                     bytea,
  -- Whether the URL names a password, or over HTTP a user.
  hides_login               boolean not null default false,
  auth_method               text not null default 'password' check (auth_method in ('password', 'ssh_public_key')),
  public_key                text,
  -- Each as its type and its Base64. Without any, the first key that is seen becomes one.
  host_keys                 text[] not null default '{}',
  only_protected_branches   boolean not null default false,
  mirror_branch_regex       text,
  keep_divergent_refs       boolean not null default false,
  update_status             text not null default 'none'
                            check (update_status in ('none', 'scheduled', 'started', 'finished', 'failed', 'to_retry')),
  last_update_at            timestamptz,
  last_update_started_at    timestamptz,
  last_successful_update_at timestamptz,
  last_error                text,
  -- How often it has failed since it last succeeded.
  failures                  integer not null default 0,
  -- When a run began that has sent all large files.
  large_files_sent_at       timestamptz,
  -- Whether the maintainers were told since it last succeeded.
  is_told                   boolean not null default false,
  constraint remote_mirrors_one_choice check (not only_protected_branches or mirror_branch_regex is null)
);
create index remote_mirrors_project_idx on remote_mirrors (project_id, id);

create table pull_mirrors (
  id                                  bigint generated always as identity primary key,
  project_id                          bigint not null unique references projects (id) on delete cascade,
  -- False also for a project that was imported once.
  enabled                             boolean not null default false,
  url                                 text not null,
  login                               bytea,
  hides_login                         boolean not null default false,
  -- Of the pair with which it signs in over SSH where the URL has no password.
  public_key                          text,
  host_keys                           text[] not null default '{}',
  -- Whose changes they are. Null when the user was deleted: then it is paused.
  user_id                             bigint references users (id) on delete set null,
  mirror_trigger_builds               boolean not null default false,
  only_mirror_protected_branches      boolean,
  mirror_overwrites_diverged_branches boolean not null default false,
  mirror_branch_regex                 text,
  update_status                       text not null default 'none'
                                      check (update_status in ('none', 'scheduled', 'started', 'finished', 'failed')),
  last_update_at                      timestamptz,
  last_update_started_at              timestamptz,
  last_successful_update_at           timestamptz,
  last_error                          text,
  failures                            integer not null default 0,
  is_paused                           boolean not null default false,
  -- Null while a run is due or under way.
  next_update_at                      timestamptz,
  constraint pull_mirrors_one_choice check (only_mirror_protected_branches is not true or mirror_branch_regex is null)
);
create index pull_mirrors_user_idx on pull_mirrors (user_id) where user_id is not null;
create index pull_mirrors_next_idx on pull_mirrors (next_update_at) where enabled and not is_paused;
