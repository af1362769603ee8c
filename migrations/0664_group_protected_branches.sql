-- Groups protect the branches of all projects below (docs/reference/protected_branches.md#groups).
set local lock_timeout = '5s';
alter table protected_branches
  alter column project_id drop not null,
  add column group_id bigint references namespaces (id) on delete cascade,
  add constraint protected_branches_have_one_owner check (num_nonnulls(project_id, group_id) = 1);
create unique index protected_branches_by_group on protected_branches (group_id, name) where group_id is not null;
