-- How long errors are kept. Partitions of their events are made and dropped by a job.
alter table application_settings add column error_tracking_retention_days integer not null default 90
  check (error_tracking_retention_days between 1 and 90);
create index on error_tracking_error_hours (hour);
