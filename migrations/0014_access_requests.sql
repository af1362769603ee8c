-- Who asks to become a member.
create table access_requests (
  id           bigint generated always as identity primary key,
  user_id      bigint not null references users on delete cascade,
  group_id     bigint references namespaces on delete cascade,
  project_id   bigint references projects on delete cascade,
  requested_at timestamptz not null default now(),
  constraint access_requests_one_target check (num_nonnulls(group_id, project_id) = 1),
  constraint access_requests_group_key unique (group_id, user_id),
  constraint access_requests_project_key unique (project_id, user_id)
);
create index access_requests_by_user on access_requests (user_id);
