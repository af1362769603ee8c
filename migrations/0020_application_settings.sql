-- What administrators decide for the whole server: one row, always there. Statements that need a setting read it themselves, so that a change counts at once in
-- every process.
create table application_settings (
  id                                       integer primary key default 1 check (id = 1),
  default_project_visibility               text not null default 'private' check (default_project_visibility in ('private', 'internal', 'public')),
  default_group_visibility                 text not null default 'private' check (default_group_visibility in ('private', 'internal', 'public')),
  default_snippet_visibility               text not null default 'private' check (default_snippet_visibility in ('private', 'internal', 'public')),
  -- What only administrators may choose.
  restricted_visibility_levels             text[] not null default '{}',
  default_branch_name                      text,
  default_branch_protection                integer not null default 2 check (default_branch_protection between 0 and 4),
  -- 0 nobody, 1 maintainers, 2 developers, 3 administrators, 4 owners.
  default_project_creation                 integer not null default 2 check (default_project_creation between 0 and 4),
  default_projects_limit                   integer not null default 100000 check (default_projects_limit >= 0),
  can_create_group                         boolean not null default true,
  user_default_external                    boolean not null default false,
  user_defaults_to_private_profile         boolean not null default false,
  email_confirmation_setting               text not null default 'off' check (email_confirmation_setting in ('off', 'soft', 'hard')),
  -- In days; null: 365.
  max_personal_access_token_lifetime       integer check (max_personal_access_token_lifetime between 1 and 365),
  require_personal_access_token_expiry     boolean not null default true,
  service_access_tokens_expiration_enforced boolean not null default true,
  personal_access_token_prefix             text not null default 'glpat-',
  deletion_adjourned_period                integer not null default 30 check (deletion_adjourned_period between 1 and 90),
  -- Storage -> share of the new projects.
  repository_storages_weighted             jsonb not null default '{"default": 100}',
  -- How often something may be asked for; 0: as often as anybody likes.
  users_get_by_id_limit                    integer not null default 0 check (users_get_by_id_limit >= 0),
  users_get_by_id_limit_allowlist          text[] not null default '{}',
  project_api_limit                        integer not null default 0 check (project_api_limit >= 0),
  projects_api_limit                       integer not null default 0 check (projects_api_limit >= 0),
  projects_api_rate_limit_unauthenticated  integer not null default 0 check (projects_api_rate_limit_unauthenticated >= 0),
  group_api_limit                          integer not null default 0 check (group_api_limit >= 0),
  groups_api_limit                         integer not null default 0 check (groups_api_limit >= 0),
  throttle_unauthenticated_api_enabled                   boolean not null default false,
  throttle_unauthenticated_api_requests_per_period       integer not null default 3600 check (throttle_unauthenticated_api_requests_per_period > 0),
  throttle_unauthenticated_api_period_in_seconds         integer not null default 3600 check (throttle_unauthenticated_api_period_in_seconds > 0),
  throttle_authenticated_api_enabled                     boolean not null default false,
  throttle_authenticated_api_requests_per_period         integer not null default 7200 check (throttle_authenticated_api_requests_per_period > 0),
  throttle_authenticated_api_period_in_seconds           integer not null default 3600 check (throttle_authenticated_api_period_in_seconds > 0),
  throttle_unauthenticated_files_api_enabled             boolean not null default false,
  throttle_unauthenticated_files_api_requests_per_period integer not null default 125 check (throttle_unauthenticated_files_api_requests_per_period > 0),
  throttle_unauthenticated_files_api_period_in_seconds   integer not null default 15 check (throttle_unauthenticated_files_api_period_in_seconds > 0),
  throttle_authenticated_files_api_enabled               boolean not null default false,
  throttle_authenticated_files_api_requests_per_period   integer not null default 500 check (throttle_authenticated_files_api_requests_per_period > 0),
  throttle_authenticated_files_api_period_in_seconds     integer not null default 15 check (throttle_authenticated_files_api_period_in_seconds > 0),
  rate_limiting_response_text              text,
  -- Whether any request has to be counted: what is asked first, so that limits cost nothing while there are none.
  counts_requests                          boolean not null generated always as (
    throttle_unauthenticated_api_enabled or throttle_authenticated_api_enabled or throttle_unauthenticated_files_api_enabled
    or throttle_authenticated_files_api_enabled or users_get_by_id_limit > 0 or project_api_limit > 0 or projects_api_limit > 0
    or projects_api_rate_limit_unauthenticated > 0 or group_api_limit > 0 or groups_api_limit > 0) stored,
  created_at                               timestamptz not null default now(),
  updated_at                               timestamptz not null default now()
);
insert into application_settings default values;
