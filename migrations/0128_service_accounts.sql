-- Accounts of programs that last longer than a token: of a top-level group, or without a group of the instance.
alter table users
  drop constraint users_user_type_check,
  add constraint users_user_type_check check (user_type in ('human', 'ghost', 'project_bot', 'service_account'));

create table service_accounts (
  user_id  bigint primary key references users on delete cascade,
  group_id bigint references namespaces on delete cascade
);
create index service_accounts_by_group on service_accounts (group_id, user_id) where group_id is not null;
-- One for each order of the list.
create index users_service_accounts on users (id) where user_type = 'service_account';
create index users_service_accounts_by_username on users (username, id) where user_type = 'service_account';

-- An account that has lost its group may do nothing from that moment on, whoever removes the group and however. The user himself goes with the next job.
create function shut_out_service_account() returns trigger language plpgsql as $$
begin
  update users set state = 'blocked', updated_at = now() where id = old.user_id and state <> 'blocked';
  return null;
end $$;
create trigger service_accounts_removed after delete on service_accounts for each row execute function shut_out_service_account();
