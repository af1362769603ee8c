-- Release health by release: its sessions, hours and users refer to one row, which lists are read from. Nothing has been written to the former tables.
drop table error_tracking_sessions, error_tracking_release_hours, error_tracking_release_users;

-- A release in an environment, as clients name them.
create table error_tracking_releases (
  id           bigint generated always as identity primary key,
  project_id   bigint not null references projects on delete cascade,
  release      text not null,
  environment  text not null,
  users_count  bigint not null default 0,
  last_seen_at timestamptz not null,
  unique (project_id, release, environment)
);
create index on error_tracking_releases (project_id, last_seen_at, id);
create index on error_tracking_releases (last_seen_at);

-- The state of each session that a client reported, so that it counts once.
create table error_tracking_sessions (
  release_id bigint not null references error_tracking_releases on delete cascade,
  session_id uuid not null,
  state      text not null check (state in ('started', 'exited', 'errored', 'crashed', 'abnormal')),
  -- The hour in which it counts: that of its start.
  hour       timestamptz not null,
  -- When its client says that it changed, so that a late message does not bring an earlier state back.
  changed_at timestamptz not null,
  updated_at timestamptz not null default now(),
  primary key (release_id, session_id)
);
create index on error_tracking_sessions (updated_at);

create table error_tracking_release_hours (
  release_id bigint not null references error_tracking_releases on delete cascade,
  hour       timestamptz not null,
  started    bigint not null default 0,
  exited     bigint not null default 0,
  errored    bigint not null default 0,
  crashed    bigint not null default 0,
  abnormal   bigint not null default 0,
  primary key (release_id, hour)
);
create index on error_tracking_release_hours (hour);

create table error_tracking_release_users (
  release_id bigint not null references error_tracking_releases on delete cascade,
  user_hash  bytea not null,
  seen_at    timestamptz not null,
  primary key (release_id, user_hash)
);
create index on error_tracking_release_users (seen_at);

-- Sessions and reports of users have a limit of their own.
alter table error_tracking_rates add column others integer not null default 0;
