-- What people did, for the lists of activity. An event outlives its target.
create table events (
  id            bigint generated always as identity primary key,
  project_id    bigint references projects on delete cascade,
  author_id     bigint not null references users,
  action        text not null check (action in ('created', 'updated', 'closed', 'reopened', 'pushed', 'commented', 'merged', 'joined', 'left', 'destroyed',
                                                'expired', 'approved', 'transferred')),
  -- Null for pushes.
  target_type   text,
  target_id     bigint,
  imported_from text not null default 'none',
  created_at    timestamptz not null default now()
);
create index events_of_project on events (project_id, id);
create index events_of_author on events (author_id, id);
create index events_by_age on events (created_at);

create table push_event_payloads (
  event_id     bigint primary key references events on delete cascade,
  commit_count integer not null,
  action       text not null check (action in ('created', 'removed', 'pushed')),
  ref_type     text not null check (ref_type in ('branch', 'tag')),
  commit_from  text,
  commit_to    text,
  -- Null where one push moved many at once.
  ref          text,
  commit_title text,
  ref_count    integer
);
