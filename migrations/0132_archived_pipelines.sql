-- Pipelines that are older than this do not run again.
alter table application_settings
  add column archive_builds_in_human_readable text,
  add column archive_builds_seconds integer,
  add constraint application_settings_archive_builds_check
    check ((archive_builds_in_human_readable is null) = (archive_builds_seconds is null));
comment on column application_settings.archive_builds_in_human_readable is 'The age from which pipelines do not run again, as an administrator wrote it; null: never.';
comment on column application_settings.archive_builds_seconds is 'The same in seconds.';
