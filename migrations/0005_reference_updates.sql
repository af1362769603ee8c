-- Moves of git references that were begun and whose effect on the database is not written yet. A row that survives a crash says what to look at.
create table reference_updates (
  id         bigint generated always as identity primary key,
  project_id bigint not null references projects on delete cascade,
  user_id    bigint references users on delete set null,
  -- [{"ref": "refs/heads/main", "old": "<id>" or null, "new": "<id>" or null}]
  updates    jsonb not null,
  created_at timestamptz not null default now()
);
create index reference_updates_by_project on reference_updates (project_id);
