set local lock_timeout = '5s';

alter table application_settings
  drop column counts_requests,
  add column bulk_import_enabled boolean not null default true,
  add column bulk_import_max_download_file_size integer not null default 5120 check (bulk_import_max_download_file_size >= 0),
  add column max_decompressed_archive_size integer not null default 25600 check (max_decompressed_archive_size >= 0),
  add column bulk_import_concurrent_pipeline_batch_limit integer not null default 25 check (bulk_import_concurrent_pipeline_batch_limit >= 1),
  add column relation_export_batch_size integer not null default 1000 check (relation_export_batch_size between 1 and 10000),
  add column concurrent_relation_export_limit integer not null default 2 check (concurrent_relation_export_limit >= 1),
  add column relation_export_requests_limit integer not null default 0 check (relation_export_requests_limit >= 0);

alter table application_settings add column counts_requests boolean not null generated always as (
  throttle_unauthenticated_api_enabled or throttle_authenticated_api_enabled
  or throttle_unauthenticated_files_api_enabled or throttle_authenticated_files_api_enabled
  or users_get_by_id_limit > 0 or project_api_limit > 0 or projects_api_limit > 0
  or projects_api_rate_limit_unauthenticated > 0 or group_api_limit > 0 or groups_api_limit > 0
  or notes_create_limit > 0 or issues_create_limit > 0
  or search_rate_limit > 0 or search_rate_limit_unauthenticated > 0
  or relation_export_requests_limit > 0
) stored;
