-- What a record that arrives names, and what may arrive after it: led there when everything is here.
create table waiting_references (
  id         bigint generated always as identity primary key,
  project_id bigint references projects on delete cascade,
  group_id   bigint references namespaces on delete cascade,
  -- `issues, moved_to`
  relation   text not null,
  row_id     bigint not null,
  -- As the source gives it.
  wanted     json not null,
  constraint waiting_references_have_one_owner check (num_nonnulls(project_id, group_id) = 1)
);
create index waiting_references_of_project on waiting_references (project_id, id) where project_id is not null;
create index waiting_references_of_group on waiting_references (group_id, id) where group_id is not null;
