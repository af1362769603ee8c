-- What is to be told to people by mail. Each row has its job, which replaces it by a job for each recipient and so runs once.
create table notifications (
  id          uuid primary key default gen_random_uuid(),
  event       text not null,
  -- Of what: no foreign keys, because the job looks for it and finds nothing when it is gone.
  target_type text not null,
  target_id   bigint not null,
  actor_id    bigint not null,
  -- Those who were added or removed, if that is what happened.
  user_ids    bigint[] not null default '{}',
  created_at  timestamptz not null default now(),
  job_id      bigint not null
);
