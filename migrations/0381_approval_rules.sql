-- How many approvals merge requests need, and whose. Without Premium none of this has an effect.
alter table projects
  add column reset_approvals_on_push boolean not null default true,
  add column disable_overriding_approvers_per_merge_request boolean not null default false,
  add column merge_requests_author_approval boolean not null default false,
  add column merge_requests_disable_committers_approval boolean not null default false,
  add column require_password_to_approve boolean not null default false;

-- A rule of a project, or of one merge request, whose rules replace those of its project.
create table approval_rules (
  id                                bigint generated always as identity primary key,
  project_id                        bigint references projects on delete cascade,
  merge_request_id                  bigint references merge_requests on delete cascade,
  -- The rule of the project that one of a merge request is a copy of.
  approval_project_rule_id          bigint references approval_rules on delete set null,
  name                              text not null check (char_length(name) <= 255),
  rule_type                         text not null default 'regular' check (rule_type in ('regular', 'any_approver')),
  approvals_required                integer not null check (approvals_required between 0 and 100),
  applies_to_all_protected_branches boolean not null default false,
  constraint approval_rules_have_one_owner check (num_nonnulls(project_id, merge_request_id) = 1)
);
create index approval_rules_of_project on approval_rules (project_id, id) where project_id is not null;
create index approval_rules_of_merge_request on approval_rules (merge_request_id, id) where merge_request_id is not null;
create index approval_rules_by_origin on approval_rules (approval_project_rule_id) where approval_project_rule_id is not null;
create unique index approval_rules_name_key on approval_rules (project_id, merge_request_id, name) nulls not distinct;
create unique index approval_rules_any_approver_key on approval_rules (project_id, merge_request_id) nulls not distinct where rule_type = 'any_approver';

-- Whose approvals a rule counts.
create table approval_rule_users (
  approval_rule_id bigint not null references approval_rules on delete cascade,
  user_id          bigint not null references users on delete cascade,
  primary key (approval_rule_id, user_id)
);
create index approval_rule_users_by_user on approval_rule_users (user_id);
create table approval_rule_groups (
  approval_rule_id bigint not null references approval_rules on delete cascade,
  group_id         bigint not null references namespaces on delete cascade,
  primary key (approval_rule_id, group_id)
);
create index approval_rule_groups_by_group on approval_rule_groups (group_id);

-- The target branches that a rule is for; without any, all.
create table approval_rule_protected_branches (
  approval_rule_id    bigint not null references approval_rules on delete cascade,
  protected_branch_id bigint not null references protected_branches on delete cascade,
  primary key (approval_rule_id, protected_branch_id)
);
create index approval_rule_protected_branches_by_branch on approval_rule_protected_branches (protected_branch_id);
