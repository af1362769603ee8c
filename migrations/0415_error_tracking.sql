-- Error tracking of projects: who may send errors, what arrived, and what it is about.
create table error_tracking_settings (
  project_id        bigint primary key references projects on delete cascade,
  active            boolean not null,
  integrated        boolean not null,
  events_per_minute integer check (events_per_minute >= 0),
  -- Users are counted by a hash that says nothing about them in another project.
  user_salt         bytea not null default uuid_send(gen_random_uuid()),
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now()
);

create table error_tracking_client_keys (
  id         bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  public_key text not null unique check (public_key ~ '^glet_[0-9a-f]{32}$'),
  active     boolean not null default true,
  created_at timestamptz not null default now()
);
create index on error_tracking_client_keys (project_id, id);

-- What is grouped as one error. `fingerprint` says by what.
create table error_tracking_errors (
  id             bigint generated always as identity primary key,
  project_id     bigint not null references projects on delete cascade,
  fingerprint    text not null,
  name           text not null,
  description    text not null,
  actor          text not null,
  platform       text not null,
  level          text not null check (level in ('fatal', 'error', 'warning', 'info', 'debug')),
  status         text not null default 'unresolved' check (status in ('unresolved', 'resolved', 'ignored')),
  first_seen_at  timestamptz not null,
  last_seen_at   timestamptz not null,
  first_release  text,
  last_release   text,
  events_count   bigint not null default 0,
  users_count    bigint not null default 0,
  resolved_at    timestamptz,
  resolved_by_id bigint references users on delete set null,
  assignee_id    bigint references users on delete set null,
  issue_id       bigint references issues on delete set null,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  unique (project_id, fingerprint)
);
create index on error_tracking_errors (project_id, last_seen_at, id);
create index on error_tracking_errors (project_id, status, last_seen_at, id);
create index on error_tracking_errors (project_id, status, first_seen_at, id);
create index on error_tracking_errors (project_id, status, events_count, id);
create index on error_tracking_errors (project_id, status, users_count, id);
create index on error_tracking_errors (last_seen_at);
create index on error_tracking_errors (resolved_by_id) where resolved_by_id is not null;
create index on error_tracking_errors (assignee_id) where assignee_id is not null;
create index on error_tracking_errors (issue_id) where issue_id is not null;

-- What arrived. A row without `digested_at` waits: it is committed before its sender is answered, and grouped later.
create table error_tracking_events (
  id          bigint generated always as identity,
  project_id  bigint not null references projects on delete cascade,
  event_id    uuid not null,
  received_at timestamptz not null default now(),
  digested_at timestamptz,
  error_id    bigint references error_tracking_errors on delete cascade,
  occurred_at timestamptz,
  environment text,
  level       text,
  description text,
  release     text,
  user_hash   bytea,
  -- The address of the sender, for `{{auto}}`; forgotten when the event is digested.
  sender      text,
  -- JSON, without NUL characters.
  payload     text not null,
  user_report jsonb,
  primary key (received_at, id)
) partition by range (received_at);
create table error_tracking_events_default partition of error_tracking_events default;
create index on error_tracking_events (id) where digested_at is null;
create index on error_tracking_events (project_id, event_id);
create index on error_tracking_events (error_id, occurred_at, id);

-- Who met an error, counted once.
create table error_tracking_error_users (
  error_id  bigint not null references error_tracking_errors on delete cascade,
  user_hash bytea not null,
  primary key (error_id, user_hash)
);

-- How often values of tags came with an error, `environment`, `release` and `level` among them.
create table error_tracking_error_tags (
  error_id bigint not null references error_tracking_errors on delete cascade,
  key      text not null,
  value    text not null,
  count    bigint not null,
  primary key (error_id, key, value)
);

create table error_tracking_error_hours (
  error_id bigint not null references error_tracking_errors on delete cascade,
  hour     timestamptz not null,
  count    bigint not null,
  primary key (error_id, hour)
);

-- The state of each session that a client reported, so that it counts once.
create table error_tracking_sessions (
  project_id  bigint not null references projects on delete cascade,
  session_id  uuid not null,
  release     text not null,
  environment text not null,
  state       text not null check (state in ('started', 'exited', 'errored', 'crashed', 'abnormal')),
  updated_at  timestamptz not null default now(),
  primary key (project_id, release, environment, session_id)
);
create index on error_tracking_sessions (updated_at);

create table error_tracking_release_hours (
  project_id  bigint not null references projects on delete cascade,
  release     text not null,
  environment text not null,
  hour        timestamptz not null,
  started     bigint not null default 0,
  exited      bigint not null default 0,
  errored     bigint not null default 0,
  crashed     bigint not null default 0,
  abnormal    bigint not null default 0,
  primary key (project_id, release, environment, hour)
);
create index on error_tracking_release_hours (hour);

create table error_tracking_release_users (
  project_id  bigint not null references projects on delete cascade,
  release     text not null,
  environment text not null,
  user_hash   bytea not null,
  seen_at     timestamptz not null,
  primary key (project_id, release, environment, user_hash)
);
create index on error_tracking_release_users (seen_at);

alter table application_settings add column error_tracking_events_per_minute integer not null default 300 check (error_tracking_events_per_minute >= 0);

-- How many events each project sent in a minute, over all processes.
create unlogged table error_tracking_rates (
  project_id bigint not null references projects on delete cascade,
  minute     timestamptz not null,
  count      integer not null,
  primary key (project_id, minute)
);
create index on error_tracking_rates (minute);
