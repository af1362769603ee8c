-- Where projects are deployed, and what was deployed there and when, as external systems record it.
set local lock_timeout = '5s';

create table environments (
  id             bigint generated always as identity primary key,
  project_id     bigint not null references projects (id) on delete cascade,
  name           text not null,
  slug           text not null,
  description    text,
  external_url   text,
  tier           text not null check (tier in ('production', 'staging', 'testing', 'development', 'other')),
  state          text not null default 'available' check (state in ('available', 'stopping', 'stopped')),
  auto_stop_at   timestamptz,
  -- How long it lives after a deployment.
  auto_stop_in_s bigint,
  -- When a review app that was stopped long ago goes.
  auto_delete_at timestamptz,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  constraint environments_name_key unique (project_id, name),
  constraint environments_slug_key unique (project_id, slug)
);
create index environments_in_order on environments (project_id, name, id);
create index environments_to_stop on environments (auto_stop_at) where state = 'available' and auto_stop_at is not null;
create index environments_to_delete on environments (auto_delete_at) where auto_delete_at is not null;

create table deployments (
  id             bigint generated always as identity primary key,
  iid            integer not null,
  project_id     bigint not null references projects (id) on delete cascade,
  environment_id bigint not null references environments (id) on delete cascade,
  ref            text not null,
  tag            boolean not null,
  sha            text not null check (sha ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'),
  status         text not null check (status in ('created', 'blocked', 'running', 'success', 'failed', 'canceled')),
  user_id        bigint references users (id),
  during_freeze  boolean not null default false,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  finished_at    timestamptz,
  constraint deployments_iid_key unique (project_id, iid)
);
create index deployments_in_order on deployments (project_id, id);
create index deployments_by_creation on deployments (project_id, created_at, id);
create index deployments_by_update on deployments (project_id, updated_at, id);
create index deployments_by_end on deployments (project_id, finished_at, id);
create index deployments_by_ref on deployments (project_id, ref, id);
create index deployments_of_environment on deployments (environment_id, id);
create index deployments_that_succeeded on deployments (environment_id, finished_at, id) where status = 'success';
create index deployments_by_user on deployments (user_id) where user_id is not null;

create table deployment_merge_requests (
  deployment_id    bigint not null references deployments (id) on delete cascade,
  merge_request_id bigint not null references merge_requests (id) on delete cascade,
  environment_id   bigint not null references environments (id) on delete cascade,
  primary key (deployment_id, merge_request_id),
  -- Only the first deployment to an environment counts.
  constraint deployment_merge_requests_once unique (environment_id, merge_request_id)
);
create index deployment_merge_requests_by_merge_request on deployment_merge_requests (merge_request_id);

alter table merge_requests add column first_deployed_to_production_at timestamptz;
alter table projects add column deployment_freeze text not null default 'mark' check (deployment_freeze in ('mark', 'refuse'));

alter table internal_ids drop constraint internal_ids_usage_check;
alter table internal_ids add constraint internal_ids_usage_check
  check (usage in ('issues', 'milestones', 'epics', 'iterations', 'merge_requests', 'feature_flags', 'feature_flag_user_lists', 'deployments')) not valid;
