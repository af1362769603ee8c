-- How often somebody may search in a minute, and an address without a token; 0: as often as he likes. And who may comment without limit.
alter table application_settings
  add column search_rate_limit                 integer not null default 0 check (search_rate_limit >= 0),
  add column search_rate_limit_unauthenticated integer not null default 0 check (search_rate_limit_unauthenticated >= 0),
  add column notes_create_limit_allowlist      text[] not null default '{}',
  drop column counts_requests;
alter table application_settings add column counts_requests boolean not null generated always as (
  throttle_unauthenticated_api_enabled or throttle_authenticated_api_enabled or throttle_unauthenticated_files_api_enabled
  or throttle_authenticated_files_api_enabled or users_get_by_id_limit > 0 or project_api_limit > 0 or projects_api_limit > 0
  or projects_api_rate_limit_unauthenticated > 0 or group_api_limit > 0 or groups_api_limit > 0 or notes_create_limit > 0
  or issues_create_limit > 0 or search_rate_limit > 0 or search_rate_limit_unauthenticated > 0) stored;
