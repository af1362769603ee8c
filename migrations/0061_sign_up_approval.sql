set local lock_timeout = '5s';
alter table application_settings add column require_admin_approval_after_user_signup boolean default true not null;
comment on column application_settings.require_admin_approval_after_user_signup is 'Whether accounts that people create for themselves wait for an administrator.';
