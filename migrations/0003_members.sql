create table members (
  id            bigint generated always as identity primary key,
  user_id       bigint not null references users on delete cascade,
  group_id      bigint references namespaces on delete cascade,
  project_id    bigint references projects on delete cascade,
  access_level  integer not null check (access_level in (5, 10, 15, 20, 30, 40, 50)),
  -- From 00:00 UTC of this day on the membership does not count.
  expires_at    date,
  created_by_id bigint references users on delete set null,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  constraint members_one_source check (num_nonnulls(group_id, project_id) = 1),
  constraint members_minimal_in_groups check (access_level >= 10 or project_id is null),
  constraint members_group_key unique (group_id, user_id),
  constraint members_project_key unique (project_id, user_id)
);
create index members_by_user on members (user_id);
create index members_expiring on members (expires_at) where expires_at is not null;

-- What a user may do where, derived from members and the tree of groups, and written in the transaction of every change of either. A user has several rows
-- in one place only while a higher level ends before a lower one: the level at a moment is the highest among the rows that have not ended. The indexes
-- hold the whole row, so that no look-up has to visit the table.
create table group_authorizations (
  user_id      bigint not null references users on delete cascade,
  group_id     bigint not null references namespaces on delete cascade,
  access_level integer not null,
  expires_at   date,
  primary key (user_id, group_id, access_level) include (expires_at)
);
create index group_authorizations_by_group on group_authorizations (group_id, user_id, access_level) include (expires_at);

create table project_authorizations (
  user_id      bigint not null references users on delete cascade,
  project_id   bigint not null references projects on delete cascade,
  access_level integer not null,
  expires_at   date,
  primary key (user_id, project_id, access_level) include (expires_at)
);
create index project_authorizations_by_project on project_authorizations (project_id, user_id, access_level) include (expires_at);
