create table epics (
  id                  bigint generated always as identity primary key,
  group_id            bigint not null references namespaces on delete cascade,
  iid                 integer not null,
  title               text not null,
  description         text,
  author_id           bigint references users,
  state               text not null default 'opened' check (state in ('opened', 'closed')),
  confidential        boolean not null default false,
  color               text not null default '#1068bf',
  parent_id           bigint references epics on delete set null,
  start_date_is_fixed boolean not null default false,
  start_date_fixed    date,
  due_date_is_fixed   boolean not null default false,
  due_date_fixed      date,
  closed_at           timestamptz,
  closed_by_id        bigint references users on delete set null,
  -- Kept by triggers.
  user_notes_count    integer not null default 0,
  upvotes             integer not null default 0,
  downvotes           integer not null default 0,
  created_at          timestamptz not null default now(),
  updated_at          timestamptz not null default now(),
  constraint epics_iid_key unique (group_id, iid)
);
create index epics_in_order on epics (group_id, created_at, id);
create index epics_by_parent on epics (parent_id) where parent_id is not null;
create index epics_by_author on epics (author_id, created_at);

create table epic_labels (
  epic_id  bigint not null references epics on delete cascade,
  label_id bigint not null references labels on delete cascade,
  primary key (epic_id, label_id)
);
create index epic_labels_by_label on epic_labels (label_id, epic_id);

create table issues (
  id                   bigint generated always as identity primary key,
  project_id           bigint not null references projects on delete cascade,
  iid                  integer not null,
  title                text not null,
  description          text,
  state                text not null default 'opened' check (state in ('opened', 'closed')),
  issue_type           text not null default 'issue' check (issue_type in ('issue', 'incident', 'test_case', 'task')),
  author_id            bigint references users,
  confidential         boolean not null default false,
  -- Null until it is first set.
  discussion_locked    boolean,
  milestone_id         bigint references milestones on delete set null,
  iteration_id         bigint references iterations on delete set null,
  due_date             date,
  weight               integer check (weight >= 0),
  health_status        text check (health_status in ('on_track', 'needs_attention', 'at_risk')),
  -- Of incidents.
  severity             text not null default 'UNKNOWN' check (severity in ('UNKNOWN', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL')),
  -- Where it stands when a list is sorted by hand; null until then.
  relative_position    bigint,
  time_estimate_s      integer not null default 0,
  total_time_spent_s   integer not null default 0,
  closed_at            timestamptz,
  closed_by_id         bigint references users on delete set null,
  moved_to_id          bigint references issues on delete set null,
  duplicated_to_id     bigint references issues on delete set null,
  imported_from        text not null default 'none',
  -- Of the description, counted when it is written.
  task_count           integer not null default 0,
  completed_task_count integer not null default 0,
  -- What lists are sorted by and replies show, kept by triggers: counting again for every row of a list would cost more than the list.
  user_notes_count     integer not null default 0,
  upvotes              integer not null default 0,
  downvotes            integer not null default 0,
  milestone_due_date   date,
  label_priority       integer,
  created_at           timestamptz not null default now(),
  updated_at           timestamptz not null default now(),
  constraint issues_iid_key unique (project_id, iid)
);
create index issues_by_author on issues (author_id, created_at, id);
create index issues_by_milestone on issues (milestone_id) where milestone_id is not null;
create index issues_by_iteration on issues (iteration_id) where iteration_id is not null;
create index issues_by_closer on issues (closed_by_id) where closed_by_id is not null;
create index issues_by_moved on issues (moved_to_id) where moved_to_id is not null;
create index issues_by_duplicated on issues (duplicated_to_id) where duplicated_to_id is not null;

create table issue_assignees (
  issue_id bigint not null references issues on delete cascade,
  user_id  bigint not null references users on delete cascade,
  primary key (issue_id, user_id)
);
create index issue_assignees_by_user on issue_assignees (user_id, issue_id);

create table issue_labels (
  issue_id bigint not null references issues on delete cascade,
  label_id bigint not null references labels on delete cascade,
  primary key (issue_id, label_id)
);
create index issue_labels_by_label on issue_labels (label_id, issue_id);

create table epic_issues (
  id                bigint generated always as identity primary key,
  epic_id           bigint not null references epics on delete cascade,
  -- An issue is in one epic at most.
  issue_id          bigint not null unique references issues on delete cascade,
  relative_position bigint not null
);
create index epic_issues_in_order on epic_issues (epic_id, relative_position, id);

-- `is_blocked_by` is `blocks` the other way round.
create table issue_links (
  id         bigint generated always as identity primary key,
  source_id  bigint not null references issues on delete cascade,
  target_id  bigint not null references issues on delete cascade,
  link_type  text not null default 'relates_to' check (link_type in ('relates_to', 'blocks')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint issue_links_of_two check (source_id <> target_id)
);
-- Two issues have one link, whichever way it points.
create unique index issue_links_key on issue_links (least(source_id, target_id), greatest(source_id, target_id));
create index issue_links_by_source on issue_links (source_id, id);
create index issue_links_by_target on issue_links (target_id, id);

create table timelogs (
  id           bigint generated always as identity primary key,
  issue_id     bigint not null references issues on delete cascade,
  user_id      bigint references users,
  -- Below zero where time was taken back.
  time_spent_s integer not null,
  spent_at     timestamptz not null default now(),
  summary      text,
  created_at   timestamptz not null default now()
);
create index timelogs_by_issue on timelogs (issue_id, id);
create index timelogs_by_user on timelogs (user_id);

create table issue_metric_images (
  id         bigint generated always as identity primary key,
  issue_id   bigint not null references issues on delete cascade,
  filename   text not null,
  blob_key   text not null,
  size_bytes bigint not null,
  url        text,
  url_text   text,
  created_at timestamptz not null default now()
);
create index issue_metric_images_by_issue on issue_metric_images (issue_id, id);

-- Where an issue was written from, for whoever looks for spam.
create table issue_user_agents (
  issue_id          bigint primary key references issues on delete cascade,
  user_agent        text not null,
  ip_address        inet not null,
  akismet_submitted boolean not null default false
);
