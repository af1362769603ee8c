-- Roles that add permissions to a level: of a top-level group, or without a group of the instance.
create table member_roles (
  id                            bigint generated always as identity primary key,
  group_id                      bigint references namespaces on delete cascade,
  name                          text not null,
  description                   text,
  base_access_level             integer not null check (base_access_level in (10, 15, 20, 30, 40, 50)),
  admin_cicd_variables          boolean not null default false,
  admin_compliance_framework    boolean not null default false,
  admin_group_member            boolean not null default false,
  admin_merge_request           boolean not null default false,
  admin_push_rules              boolean not null default false,
  admin_terraform_state         boolean not null default false,
  admin_vulnerability           boolean not null default false,
  admin_web_hook                boolean not null default false,
  archive_project               boolean not null default false,
  manage_deploy_tokens          boolean not null default false,
  manage_group_access_tokens    boolean not null default false,
  manage_merge_request_settings boolean not null default false,
  manage_project_access_tokens  boolean not null default false,
  manage_security_policy_link   boolean not null default false,
  read_code                     boolean not null default false,
  read_runners                  boolean not null default false,
  read_dependency               boolean not null default false,
  read_vulnerability            boolean not null default false,
  remove_group                  boolean not null default false,
  remove_project                boolean not null default false,
  created_at                    timestamptz not null default now(),
  updated_at                    timestamptz not null default now(),
  -- The names of those that are true, as access rules ask for them.
  permissions text[] not null generated always as (array_remove(array[
    case when admin_cicd_variables then 'admin_cicd_variables' end,
    case when admin_compliance_framework then 'admin_compliance_framework' end,
    case when admin_group_member then 'admin_group_member' end,
    case when admin_merge_request then 'admin_merge_request' end,
    case when admin_push_rules then 'admin_push_rules' end,
    case when admin_terraform_state then 'admin_terraform_state' end,
    case when admin_vulnerability then 'admin_vulnerability' end,
    case when admin_web_hook then 'admin_web_hook' end,
    case when archive_project then 'archive_project' end,
    case when manage_deploy_tokens then 'manage_deploy_tokens' end,
    case when manage_group_access_tokens then 'manage_group_access_tokens' end,
    case when manage_merge_request_settings then 'manage_merge_request_settings' end,
    case when manage_project_access_tokens then 'manage_project_access_tokens' end,
    case when manage_security_policy_link then 'manage_security_policy_link' end,
    case when read_code then 'read_code' end,
    case when read_runners then 'read_runners' end,
    case when read_dependency then 'read_dependency' end,
    case when read_vulnerability then 'read_vulnerability' end,
    case when remove_group then 'remove_group' end,
    case when remove_project then 'remove_project' end
  ]::text[], null)) stored,
  -- Lists are in the order of names.
  constraint member_roles_name_key unique nulls not distinct (group_id, name),
  constraint member_roles_level_key unique (id, base_access_level),
  constraint member_roles_some_permission check (permissions <> '{}')
);

-- Whoever has a role has its level.
alter table members
  add column member_role_id bigint,
  add constraint members_role_fkey foreign key (member_role_id, access_level) references member_roles (id, base_access_level);
create index members_by_role on members (member_role_id) where member_role_id is not null;

-- A membership with a role is a row of its own beside those without, because its permissions add up with theirs. The index holds all that a request asks:
-- level and roles of a user in one place are read together.
alter table group_authorizations
  add column member_role_id bigint references member_roles on delete cascade,
  drop constraint group_authorizations_pkey,
  add constraint group_authorizations_key unique nulls not distinct (user_id, group_id, access_level, member_role_id) include (expires_at);
create index group_authorizations_by_role on group_authorizations (member_role_id) where member_role_id is not null;

alter table project_authorizations
  add column member_role_id bigint references member_roles on delete cascade,
  drop constraint project_authorizations_pkey,
  add constraint project_authorizations_key unique nulls not distinct (user_id, project_id, access_level, member_role_id) include (expires_at);
create index project_authorizations_by_role on project_authorizations (member_role_id) where member_role_id is not null;
