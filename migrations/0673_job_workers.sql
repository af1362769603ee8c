-- The processes that run jobs, and what became of the jobs that have ended (docs/reference/sidekiq.md).
-- Not logged: workers say again who they are, and the counts of ten seconds are not worth a write to disk.
create unlogged table job_workers (
  -- As in the rows of its jobs.
  name        text primary key,
  hostname    text not null,
  pid         integer not null,
  started_at  timestamptz not null default now(),
  concurrency integer not null,
  -- The names of the jobs that it runs.
  jobs        text[] not null
);
create unlogged table job_totals (
  id        smallint primary key default 1 check (id = 1),
  -- Runs that have ended, those that failed included.
  processed bigint not null default 0,
  failed    bigint not null default 0
);
