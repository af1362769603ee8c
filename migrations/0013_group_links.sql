-- A group that is invited into another group, or into a project: its members, those of the groups above it included, count there and below,
-- with their own level but at most that of the link.
create table group_links (
  id               bigint generated always as identity primary key,
  group_id         bigint references namespaces on delete cascade,
  project_id       bigint references projects on delete cascade,
  invited_group_id bigint not null references namespaces on delete cascade,
  access_level     integer not null check (access_level in (10, 15, 20, 30, 40, 50)),
  -- From 00:00 UTC of this day on the link does not count.
  expires_at       date,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  constraint group_links_one_target check (num_nonnulls(group_id, project_id) = 1),
  constraint group_links_not_itself check (group_id <> invited_group_id),
  constraint group_links_group_key unique (group_id, invited_group_id),
  constraint group_links_project_key unique (project_id, invited_group_id)
);
create index group_links_by_invited on group_links (invited_group_id, id);
create index group_links_expiring on group_links (expires_at) where expires_at is not null;
