-- Branches that not everybody who may push to a project may move, by name; `*` in it stands for any characters.
create table protected_branches (
  id               bigint generated always as identity primary key,
  project_id       bigint not null references projects on delete cascade,
  name             text not null,
  allow_force_push boolean not null default false,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  constraint protected_branches_name_key unique (project_id, name)
);

-- Who may do something all the same: everybody from a level on (0: nobody, 60: administrators), a user, or the members of a group.
create table protected_branch_access_levels (
  id                  bigint generated always as identity primary key,
  protected_branch_id bigint not null references protected_branches on delete cascade,
  action              text not null check (action in ('push', 'merge', 'unprotect')),
  access_level        integer check (access_level in (0, 30, 40, 60)),
  user_id             bigint references users on delete cascade,
  group_id            bigint references namespaces on delete cascade,
  constraint protected_branch_access_levels_one_grantee check (num_nonnulls(access_level, user_id, group_id) = 1),
  constraint protected_branch_access_levels_level_key unique (protected_branch_id, action, access_level),
  constraint protected_branch_access_levels_user_key unique (protected_branch_id, action, user_id),
  constraint protected_branch_access_levels_group_key unique (protected_branch_id, action, group_id)
);
create index protected_branch_access_levels_by_user on protected_branch_access_levels (user_id) where user_id is not null;
create index protected_branch_access_levels_by_group on protected_branch_access_levels (group_id) where group_id is not null;
