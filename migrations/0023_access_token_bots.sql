-- The users that access tokens of projects and groups belong to, each a member of its project or group.
create table access_token_bots (
  user_id    bigint primary key references users on delete cascade,
  group_id   bigint references namespaces on delete cascade,
  project_id bigint references projects on delete cascade,
  constraint access_token_bots_one_resource check (num_nonnulls(group_id, project_id) = 1)
);
create index access_token_bots_by_group on access_token_bots (group_id, user_id) where group_id is not null;
create index access_token_bots_by_project on access_token_bots (project_id, user_id) where project_id is not null;
-- Those that have lost their project or group, and with it their row here, are looked for.
create index users_bots on users (id) where user_type = 'project_bot';
