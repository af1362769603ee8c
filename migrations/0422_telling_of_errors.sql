-- Webhooks, mail and alerts about errors.
set local lock_timeout = '5s';
alter table hooks add column error_events boolean not null default false;

-- An error is alerted of that has so many events or users within so many minutes; null: it is not.
alter table error_tracking_settings
  add column alert_events  integer check (alert_events between 1 and 10000),
  add column alert_users   integer check (alert_users between 1 and 1000),
  add column alert_minutes integer not null default 60 check (alert_minutes between 1 and 1440);

-- When an error was last alerted of, so that a burst is one alert.
create table error_tracking_alerts (
  error_id   bigint primary key references error_tracking_errors on delete cascade,
  -- The latest time of the events that were counted.
  alerted_at timestamptz not null
);

-- How often a project has told its members of errors by mail in the hour that began then.
create table error_tracking_notices (
  project_id bigint primary key references projects on delete cascade,
  began_at   timestamptz not null default now(),
  count      integer not null
);
