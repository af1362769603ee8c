-- Custom attributes: texts by key that administrators keep with users, groups and projects (docs/reference/custom_attributes.md).
create table custom_attributes (
  id         bigint generated always as identity primary key,
  user_id    bigint references users (id) on delete cascade,
  group_id   bigint references namespaces (id) on delete cascade,
  project_id bigint references projects (id) on delete cascade,
  key        text not null,
  value      text not null,
  constraint custom_attributes_have_one_owner check (num_nonnulls(user_id, group_id, project_id) = 1)
);
create unique index custom_attributes_by_user on custom_attributes (user_id, key) where user_id is not null;
create unique index custom_attributes_by_group on custom_attributes (group_id, key) where group_id is not null;
create unique index custom_attributes_by_project on custom_attributes (project_id, key) where project_id is not null;
-- Values are longer than what an index may hold.
create index custom_attributes_by_value on custom_attributes (key, md5(value));
