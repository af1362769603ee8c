set local lock_timeout = '5s';

-- Accounts that stand for people of another server until an administrator says who they are.
alter table users
  drop constraint users_user_type_check,
  add constraint users_user_type_check check (user_type in ('human', 'ghost', 'project_bot', 'service_account', 'placeholder'));

create table placeholders (
  user_id         bigint primary key references users on delete cascade,
  -- The top-level group that the person's records were migrated into.
  group_id        bigint not null references namespaces on delete cascade,
  source_host     text not null,
  source_user_id  bigint not null,
  source_username text not null,
  source_name     text not null,
  -- The account that a job gives everything to.
  assignee_id     bigint references users on delete set null,
  created_at      timestamptz not null default now(),
  constraint placeholders_one_each unique (group_id, source_host, source_user_id)
);
-- The order of the list.
create index placeholders_by_group on placeholders (group_id, user_id);
create index placeholders_by_assignee on placeholders (assignee_id) where assignee_id is not null;
-- For the job that deletes those whose group is gone.
create index users_placeholders on users (id) where user_type = 'placeholder';

-- Direct memberships at the source, which the account gets with everything else.
create table placeholder_memberships (
  id           bigint generated always as identity primary key,
  user_id      bigint not null references placeholders on delete cascade,
  group_id     bigint references namespaces on delete cascade,
  project_id   bigint references projects on delete cascade,
  access_level integer not null check (access_level in (5, 10, 15, 20, 30, 40, 50)),
  expires_at   date,
  constraint placeholder_memberships_one_place check (num_nonnulls(group_id, project_id) = 1),
  constraint placeholder_memberships_group_key unique (user_id, group_id),
  constraint placeholder_memberships_project_key unique (user_id, project_id)
);
create index placeholder_memberships_by_group on placeholder_memberships (group_id) where group_id is not null;
create index placeholder_memberships_by_project on placeholder_memberships (project_id) where project_id is not null;
