-- The statuses of one commit and one ref are a pipeline (docs/reference/pipelines.md). A job puts the statuses that are there into theirs (docs/decisions/0118).
set local lock_timeout = '5s';

create table pipelines (
  -- From the sequence of statuses: one that is made for older statuses has the id of the first of them, so ids are in the order of beginning.
  id          bigint primary key default nextval('commit_statuses_id_seq'),
  iid         integer not null,
  project_id  bigint not null references projects (id) on delete cascade,
  sha         text not null,
  ref         text not null,
  tag         boolean not null default false,
  -- What the current statuses say together.
  status      text not null check (status in ('pending', 'running', 'success', 'failed', 'canceled', 'skipped')),
  user_id     bigint references users (id) on delete set null,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  started_at  timestamptz,
  finished_at timestamptz,
  constraint pipelines_iid_key unique (project_id, iid),
  constraint pipelines_of_commit unique (project_id, sha, ref)
);
create index pipelines_in_order on pipelines (project_id, id);
create index pipelines_by_status on pipelines (project_id, status, id);
create index pipelines_by_ref on pipelines (project_id, ref, id);
create index pipelines_by_update on pipelines (project_id, updated_at, id);
create index pipelines_by_author on pipelines (project_id, user_id, id);
create index pipelines_by_user on pipelines (user_id) where user_id is not null;

-- Null until the job has come by: versions before this one write statuses without it.
alter table commit_statuses add column pipeline_id bigint;
alter table commit_statuses add constraint commit_statuses_pipeline_id_fkey
  foreign key (pipeline_id) references pipelines (id) on delete cascade not valid;

-- Whether Guests of a private project may read its pipelines.
alter table projects add column public_jobs boolean not null default true;

alter table internal_ids drop constraint internal_ids_usage_check;
alter table internal_ids add constraint internal_ids_usage_check
  check (usage in ('issues', 'milestones', 'epics', 'iterations', 'merge_requests', 'feature_flags', 'feature_flag_user_lists', 'deployments', 'pipelines')) not valid;
