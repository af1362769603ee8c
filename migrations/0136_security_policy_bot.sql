-- The account that writes what security policies ask for on merge requests (docs/reference/security_policies.md#messages).
alter table users drop constraint users_user_type_check;
alter table users add constraint users_user_type_check
  check (user_type in ('human', 'ghost', 'project_bot', 'service_account', 'placeholder', 'security_policy_bot'));
create unique index users_one_security_policy_bot on users using btree (user_type) where user_type = 'security_policy_bot';
