-- When a directory was last asked whether somebody is still there.
alter table user_identities add column checked_at timestamp with time zone;
comment on column user_identities.checked_at is 'When the directory has answered last whether the person is there; null for other providers.';
create index user_identities_by_check on user_identities using btree (provider, checked_at nulls first, user_id);

-- Somebody who is gone from their directory.
alter table users drop constraint users_state_check;
alter table users add constraint users_state_check
  check (state in ('active', 'blocked', 'deactivated', 'banned', 'blocked_pending_approval', 'ldap_blocked')) not valid;
alter table users validate constraint users_state_check;
