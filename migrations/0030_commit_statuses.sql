-- What services outside say of commits. A report by a name that has ended is kept, and marked as retried when the next one begins.
create table commit_statuses (
  id          bigint generated always as identity primary key,
  project_id  bigint not null references projects on delete cascade,
  user_id     bigint references users on delete set null,
  sha         text not null,
  -- Branch or tag that the commit was looked at for.
  ref         text not null,
  name        text not null,
  status      text not null check (status in ('pending', 'running', 'success', 'failed', 'canceled', 'skipped')),
  target_url  text,
  description text,
  coverage    double precision,
  retried     boolean not null default false,
  created_at  timestamptz not null default now(),
  started_at  timestamptz,
  finished_at timestamptz
);
create index commit_statuses_by_commit on commit_statuses (project_id, sha, id);
create unique index commit_statuses_current on commit_statuses (project_id, sha, ref, name) where not retried;
create index commit_statuses_by_user on commit_statuses (user_id);
