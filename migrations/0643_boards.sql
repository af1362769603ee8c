-- Issue boards of projects and groups, and the lists on them (docs/reference/boards.md).
create table boards (
  id                 bigint generated always as identity primary key,
  project_id         bigint references projects on delete cascade,
  group_id           bigint references namespaces on delete cascade,
  name               text not null check (length(name) between 1 and 255),
  hide_backlog_list  boolean not null default false,
  hide_closed_list   boolean not null default false,
  -- The scope: what its issues have in common. A word stands where no user or milestone does.
  assignee_id        bigint references users on delete set null,
  assignee_wildcard  text check (assignee_wildcard = 'none'),
  milestone_id       bigint references milestones on delete set null,
  milestone_wildcard text check (milestone_wildcard in ('none', 'upcoming', 'started')),
  iteration_id       bigint references iterations on delete set null,
  -- -1: any, -2: none.
  weight             integer check (weight between -2 and 9),
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now(),
  check (num_nonnulls(project_id, group_id) = 1),
  check (num_nonnulls(assignee_id, assignee_wildcard) < 2),
  check (num_nonnulls(milestone_id, milestone_wildcard) < 2)
);
create index boards_of_project on boards (project_id, name, id) where project_id is not null;
create index boards_of_group on boards (group_id, name, id) where group_id is not null;
create index boards_by_assignee on boards (assignee_id) where assignee_id is not null;
create index boards_by_milestone on boards (milestone_id) where milestone_id is not null;
create index boards_by_iteration on boards (iteration_id) where iteration_id is not null;

create table board_labels (
  board_id bigint not null references boards on delete cascade,
  label_id bigint not null references labels on delete cascade,
  primary key (board_id, label_id)
);
create index board_labels_by_label on board_labels (label_id);

-- A list goes with what it stands for, so stored positions have gaps; replies count lists instead.
create table board_lists (
  id               bigint generated always as identity primary key,
  board_id         bigint not null references boards on delete cascade,
  label_id         bigint references labels on delete cascade,
  user_id          bigint references users on delete cascade,
  milestone_id     bigint references milestones on delete cascade,
  iteration_id     bigint references iterations on delete cascade,
  position         integer not null check (position >= 0),
  max_issue_count  integer not null default 0 check (max_issue_count between 0 and 1000000),
  max_issue_weight integer not null default 0 check (max_issue_weight between 0 and 1000000),
  limit_metric     text check (limit_metric in ('all_metrics', 'issue_count', 'issue_weights')),
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  check (num_nonnulls(label_id, user_id, milestone_id, iteration_id) = 1),
  constraint board_lists_label_id unique (board_id, label_id),
  constraint board_lists_user_id unique (board_id, user_id),
  constraint board_lists_milestone_id unique (board_id, milestone_id),
  constraint board_lists_iteration_id unique (board_id, iteration_id)
);
create index board_lists_in_order on board_lists (board_id, position, id);
create index board_lists_by_label on board_lists (label_id) where label_id is not null;
create index board_lists_by_user on board_lists (user_id) where user_id is not null;
create index board_lists_by_milestone on board_lists (milestone_id) where milestone_id is not null;
create index board_lists_by_iteration on board_lists (iteration_id) where iteration_id is not null;

-- Lists that a user sees collapsed.
create table board_collapsed_lists (
  list_id bigint not null references board_lists on delete cascade,
  user_id bigint not null references users on delete cascade,
  primary key (list_id, user_id)
);
create index board_collapsed_lists_by_user on board_collapsed_lists (user_id);
