-- Whom a notification is still to be sent to. The row of the notification is gone by then; the job that sends it has its id.
create table notification_recipients (
  notification_id uuid not null,
  user_id         bigint not null references users on delete cascade,
  -- Null for those whose settings are the reason.
  reason          text,
  created_at      timestamptz not null default now(),
  primary key (notification_id, user_id)
);
create index notification_recipients_of_user on notification_recipients (user_id);
create index notification_recipients_by_age on notification_recipients (created_at);

-- How many messages about a project or group a user gets within a day.
create table notification_counts (
  user_id    bigint not null references users on delete cascade,
  project_id bigint references projects on delete cascade,
  group_id   bigint references namespaces on delete cascade,
  began_at   timestamptz not null default now(),
  messages   integer not null default 1,
  constraint notification_counts_key unique nulls not distinct (user_id, project_id, group_id),
  constraint notification_counts_have_one_place check (num_nonnulls(project_id, group_id) = 1)
);
create index notification_counts_of_project on notification_counts (project_id) where project_id is not null;
create index notification_counts_of_group on notification_counts (group_id) where group_id is not null;
create index notification_counts_by_age on notification_counts (began_at);
