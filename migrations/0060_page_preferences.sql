set local lock_timeout = '5s';
alter table users
  add column page_times text default 'relative'::text not null,
  add column page_time_zone text default 'UTC'::text not null,
  add column page_diffs text default 'inline'::text not null,
  add column page_tab_width smallint default 4 not null,
  add column page_keys boolean default true not null;
alter table users
  add constraint users_page_times_check check (page_times = any (array['relative', 'absolute'])) not valid,
  add constraint users_page_diffs_check check (page_diffs = any (array['inline', 'side_by_side'])) not valid,
  add constraint users_page_tab_width_check check (page_tab_width = any (array[2, 4, 8])) not valid;
alter table users validate constraint users_page_times_check;
alter table users validate constraint users_page_diffs_check;
alter table users validate constraint users_page_tab_width_check;
comment on column users.page_times is 'Whether pages show how long ago something was, or when.';
comment on column users.page_time_zone is 'The IANA time zone in which pages show times.';
comment on column users.page_diffs is 'Whether pages show changes in one column or in two.';
comment on column users.page_tab_width is 'The width of a tab in code, in characters.';
comment on column users.page_keys is 'Whether pages listen to keys.';
drop trigger raise_rights_version on users;
create trigger raise_rights_version
  after insert or delete or update of username, name, email, commit_email, state, user_type, admin, external, confirmed_at, created_at,
    page_theme, page_times, page_time_zone, page_diffs, page_tab_width, page_keys
  on users for each statement execute function raise_rights_version();
