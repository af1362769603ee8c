alter table users
  add column view_diffs_file_by_file       boolean not null default false,
  add column show_whitespace_in_diffs      boolean not null default true,
  add column pass_user_identities_to_ci_jwt boolean not null default false;
-- The list of who has been active lately.
create index users_by_activity on users (last_activity_on, id) where last_activity_on is not null;
