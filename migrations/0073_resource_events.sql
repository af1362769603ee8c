-- What happened to an issue or epic besides what is noted in words. Each points at one of them.
create table resource_label_events (
  id         bigint generated always as identity primary key,
  issue_id   bigint references issues on delete cascade,
  epic_id    bigint references epics on delete cascade,
  user_id    bigint references users,
  label_id   bigint references labels on delete set null,
  action     text not null check (action in ('add', 'remove')),
  created_at timestamptz not null default now(),
  constraint resource_label_events_have_one_resource check (num_nonnulls(issue_id, epic_id) = 1)
);
create index resource_label_events_of_issue on resource_label_events (issue_id, id) where issue_id is not null;
create index resource_label_events_of_epic on resource_label_events (epic_id, id) where epic_id is not null;
create index resource_label_events_by_label on resource_label_events (label_id);
create index resource_label_events_by_user on resource_label_events (user_id);

create table resource_state_events (
  id         bigint generated always as identity primary key,
  issue_id   bigint references issues on delete cascade,
  epic_id    bigint references epics on delete cascade,
  user_id    bigint references users,
  state      text not null check (state in ('opened', 'closed', 'reopened')),
  created_at timestamptz not null default now(),
  constraint resource_state_events_have_one_resource check (num_nonnulls(issue_id, epic_id) = 1)
);
create index resource_state_events_of_issue on resource_state_events (issue_id, id) where issue_id is not null;
create index resource_state_events_of_epic on resource_state_events (epic_id, id) where epic_id is not null;
create index resource_state_events_by_user on resource_state_events (user_id);

create table resource_milestone_events (
  id           bigint generated always as identity primary key,
  issue_id     bigint not null references issues on delete cascade,
  user_id      bigint references users,
  milestone_id bigint references milestones on delete cascade,
  action       text not null check (action in ('add', 'remove')),
  -- That of the issue at the time.
  state        text not null check (state in ('opened', 'closed')),
  created_at   timestamptz not null default now()
);
create index resource_milestone_events_of_issue on resource_milestone_events (issue_id, id);
create index resource_milestone_events_by_milestone on resource_milestone_events (milestone_id, created_at);
create index resource_milestone_events_by_user on resource_milestone_events (user_id);

create table resource_weight_events (
  id         bigint generated always as identity primary key,
  issue_id   bigint not null references issues on delete cascade,
  user_id    bigint references users,
  weight     integer,
  created_at timestamptz not null default now()
);
create index resource_weight_events_of_issue on resource_weight_events (issue_id, id);
create index resource_weight_events_by_user on resource_weight_events (user_id);

create table resource_iteration_events (
  id           bigint generated always as identity primary key,
  issue_id     bigint not null references issues on delete cascade,
  user_id      bigint references users,
  iteration_id bigint references iterations on delete cascade,
  action       text not null check (action in ('add', 'remove')),
  created_at   timestamptz not null default now()
);
create index resource_iteration_events_of_issue on resource_iteration_events (issue_id, id);
create index resource_iteration_events_by_iteration on resource_iteration_events (iteration_id);
create index resource_iteration_events_by_user on resource_iteration_events (user_id);
