-- Who may deploy to environments, and whose approval a deployment needs.
set local lock_timeout = '5s';

create table protected_environments (
  id         bigint generated always as identity primary key,
  project_id bigint references projects (id) on delete cascade,
  group_id   bigint references namespaces (id) on delete cascade,
  -- Of an environment; in groups, of a tier.
  name       text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint protected_environments_one_owner check (num_nonnulls(project_id, group_id) = 1),
  constraint protected_environments_name_key unique nulls not distinct (project_id, group_id, name)
);
create index protected_environments_of_group on protected_environments (group_id, name) where group_id is not null;

create table protected_environment_rules (
  id                       bigint generated always as identity primary key,
  protected_environment_id bigint not null references protected_environments (id) on delete cascade,
  purpose                  text not null check (purpose in ('deploy', 'approve')),
  access_level             integer check (access_level in (30, 40, 60)),
  user_id                  bigint references users (id) on delete cascade,
  group_id                 bigint references namespaces (id) on delete cascade,
  -- 0: only direct members of the group; 1: also those that it inherits.
  group_inheritance_type   integer not null default 0 check (group_inheritance_type in (0, 1)),
  required_approvals       integer not null default 1 check (required_approvals between 1 and 5),
  constraint protected_environment_rules_one_grantee check (num_nonnulls(access_level, user_id, group_id) = 1),
  constraint protected_environment_rules_key unique nulls not distinct (protected_environment_id, purpose, access_level, user_id, group_id)
);
create index protected_environment_rules_by_user on protected_environment_rules (user_id) where user_id is not null;
create index protected_environment_rules_by_group on protected_environment_rules (group_id) where group_id is not null;

create table deployment_approvals (
  id            bigint generated always as identity primary key,
  deployment_id bigint not null references deployments (id) on delete cascade,
  user_id       bigint not null references users (id),
  -- The rule that it counts for.
  rule_id       bigint references protected_environment_rules (id) on delete set null,
  status        text not null check (status in ('approved', 'rejected')),
  comment       text,
  created_at    timestamptz not null default now(),
  constraint deployment_approvals_key unique (deployment_id, user_id)
);
create index deployment_approvals_by_user on deployment_approvals (user_id);
create index deployment_approvals_by_rule on deployment_approvals (rule_id) where rule_id is not null;
