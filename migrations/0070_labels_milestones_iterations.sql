-- The numbers that things count by inside their project or group. Whoever takes one holds the row until the end of his transaction: no gaps and no repeats.
create table internal_ids (
  project_id   bigint references projects on delete cascade,
  namespace_id bigint references namespaces on delete cascade,
  usage        text not null check (usage in ('issues', 'milestones', 'epics', 'iterations')),
  last_value   integer not null,
  constraint internal_ids_have_one_owner check (num_nonnulls(project_id, namespace_id) = 1),
  constraint internal_ids_key unique nulls not distinct (project_id, namespace_id, usage)
) with (fillfactor = 50);

create table labels (
  id          bigint generated always as identity primary key,
  project_id  bigint references projects on delete cascade,
  group_id    bigint references namespaces on delete cascade,
  title       text not null,
  description text,
  -- `#rrggbb`, in the case that it was given in.
  color       text not null,
  archived    boolean not null default false,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  constraint labels_have_one_owner check (num_nonnulls(project_id, group_id) = 1),
  constraint labels_project_title_key unique (project_id, title),
  constraint labels_group_title_key unique (group_id, title)
);
create index labels_by_title on labels (title, id);

-- How important a label is in a project, the lowest number first.
create table label_priorities (
  project_id bigint not null references projects on delete cascade,
  label_id   bigint not null references labels on delete cascade,
  priority   integer not null check (priority >= 0),
  primary key (label_id, project_id)
);
create index label_priorities_by_project on label_priorities (project_id, priority);

create table milestones (
  id          bigint generated always as identity primary key,
  project_id  bigint references projects on delete cascade,
  group_id    bigint references namespaces on delete cascade,
  iid         integer not null,
  title       text not null,
  description text,
  state       text not null default 'active' check (state in ('active', 'closed')),
  start_date  date,
  due_date    date,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  constraint milestones_have_one_owner check (num_nonnulls(project_id, group_id) = 1),
  constraint milestones_project_iid_key unique (project_id, iid),
  constraint milestones_group_iid_key unique (group_id, iid),
  constraint milestones_project_title_key unique (project_id, title),
  constraint milestones_group_title_key unique (group_id, title)
);
create index milestones_of_project_in_order on milestones (project_id, due_date, id);
create index milestones_of_group_in_order on milestones (group_id, due_date, id);
create index milestones_by_title on milestones (title);

create table iteration_cadences (
  id                    bigint generated always as identity primary key,
  group_id              bigint not null references namespaces on delete cascade,
  title                 text not null,
  description           text,
  active                boolean not null default true,
  automatic             boolean not null default true,
  start_date            date,
  duration_in_weeks     integer check (duration_in_weeks between 1 and 4),
  iterations_in_advance integer check (iterations_in_advance between 1 and 10),
  -- Whether open issues move on when their iteration ends.
  roll_over             boolean not null default false,
  created_at            timestamptz not null default now(),
  updated_at            timestamptz not null default now()
);
create index iteration_cadences_by_group on iteration_cadences (group_id, id);

create extension if not exists btree_gist;
create table iterations (
  id          bigint generated always as identity primary key,
  cadence_id  bigint not null references iteration_cadences on delete cascade,
  group_id    bigint not null references namespaces on delete cascade,
  iid         integer not null,
  -- Its place in the cadence, from 1.
  sequence    integer not null,
  -- Null for those that a cadence makes.
  title       text,
  description text,
  -- 1 upcoming, 2 current, 3 closed.
  state       integer not null default 1 check (state between 1 and 3),
  start_date  date not null,
  due_date    date not null,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  constraint iterations_iid_key unique (group_id, iid),
  constraint iterations_end_after_their_start check (due_date >= start_date),
  -- Checked late where several of them move at once.
  constraint iterations_do_not_overlap exclude using gist (cadence_id with =, daterange(start_date, due_date, '[]') with &&)
    deferrable initially immediate
);
create index iterations_in_order on iterations (group_id, start_date, id);
create index iterations_by_cadence on iterations (cadence_id, sequence);
create index iterations_unfinished on iterations (due_date) where state < 3;
