-- Webhooks: addresses that are told of what happens in a project, in a group and everything below it, or on the whole server (neither).
create table hooks (
  id                           bigint generated always as identity primary key,
  project_id                   bigint references projects on delete cascade,
  group_id                     bigint references namespaces on delete cascade,
  -- With the names of its variables in braces.
  url                          text not null,
  name                         text,
  description                  text,
  -- Token, signing token, and the values of URL variables and custom headers: JSON, sealed with the secret key.
  secrets                      bytea not null,
  enable_ssl_verification      boolean not null default true,
  push_events_branch_filter    text,
  branch_filter_strategy       text not null default 'wildcard' check (branch_filter_strategy in ('wildcard', 'regex', 'all_branches')),
  custom_webhook_template      text,
  push_events                  boolean not null default true,
  tag_push_events              boolean not null default false,
  merge_requests_events        boolean not null default false,
  repository_update_events     boolean not null default false,
  issues_events                boolean not null default false,
  confidential_issues_events   boolean not null default false,
  note_events                  boolean not null default false,
  confidential_note_events     boolean not null default false,
  milestone_events             boolean not null default false,
  emoji_events                 boolean not null default false,
  resource_access_token_events boolean not null default false,
  member_events                boolean not null default false,
  subgroup_events              boolean not null default false,
  project_events               boolean not null default false,
  job_events                   boolean not null default false,
  pipeline_events              boolean not null default false,
  wiki_page_events             boolean not null default false,
  deployment_events            boolean not null default false,
  releases_events              boolean not null default false,
  feature_flag_events          boolean not null default false,
  vulnerability_events         boolean not null default false,
  -- Failures since the last success. From the fourth on, the hook is disabled for a while; from the fortieth on, until a test succeeds.
  recent_failures              integer not null default 0 check (recent_failures >= 0),
  disabled_until               timestamptz,
  created_at                   timestamptz not null default now(),
  updated_at                   timestamptz not null default now(),
  constraint hooks_have_one_owner check (num_nonnulls(project_id, group_id) <= 1)
);
create index hooks_of_project on hooks (project_id, id) where project_id is not null;
create index hooks_of_group on hooks (group_id, id) where group_id is not null;
create index hooks_of_instance on hooks (id) where project_id is null and group_id is null;

alter table application_settings
  add column allow_local_requests_from_system_hooks boolean not null default true,
  add column push_event_hooks_limit integer not null default 3 check (push_event_hooks_limit >= 0);
