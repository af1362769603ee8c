-- What groups say of approvals: a stricter word of theirs holds in all projects below (docs/reference/approvals.md#settings-of-groups).
-- The columns are those of projects.
create table group_approval_settings (
  group_id                                       bigint primary key references namespaces (id) on delete cascade,
  reset_approvals_on_push                        boolean not null default false,
  selective_code_owner_removals                  boolean not null default false,
  disable_overriding_approvers_per_merge_request boolean not null default false,
  merge_requests_author_approval                 boolean not null default true,
  merge_requests_disable_committers_approval     boolean not null default false,
  require_password_to_approve                    boolean not null default false
);
