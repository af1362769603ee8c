set local lock_timeout = '5s';
create table merge_request_viewed_files (
  merge_request_id bigint not null,
  user_id bigint not null,
  digest bytea not null,
  constraint merge_request_viewed_files_pkey primary key (merge_request_id, user_id, digest),
  constraint merge_request_viewed_files_merge_request_id_fkey foreign key (merge_request_id) references merge_requests(id) on delete cascade,
  constraint merge_request_viewed_files_user_id_fkey foreign key (user_id) references users(id) on delete cascade
);
create index merge_request_viewed_files_by_user on merge_request_viewed_files using btree (user_id);
comment on table merge_request_viewed_files is 'Files of merge requests that users have marked as viewed.';
comment on column merge_request_viewed_files.digest is 'Of the path of the file and its changes, so that the mark ends when they change.';
create table merge_request_visits (
  merge_request_id bigint not null,
  user_id bigint not null,
  version_id bigint not null,
  before_id bigint,
  constraint merge_request_visits_pkey primary key (merge_request_id, user_id),
  constraint merge_request_visits_merge_request_id_fkey foreign key (merge_request_id) references merge_requests(id) on delete cascade,
  constraint merge_request_visits_user_id_fkey foreign key (user_id) references users(id) on delete cascade,
  constraint merge_request_visits_version_id_fkey foreign key (version_id) references merge_request_versions(id) on delete cascade,
  constraint merge_request_visits_before_id_fkey foreign key (before_id) references merge_request_versions(id) on delete set null
);
create index merge_request_visits_by_user on merge_request_visits using btree (user_id);
create index merge_request_visits_by_version on merge_request_visits using btree (version_id);
create index merge_request_visits_by_version_before on merge_request_visits using btree (before_id) where before_id is not null;
comment on table merge_request_visits is 'The versions of merge requests that users have looked at.';
comment on column merge_request_visits.version_id is 'The last version that they have seen.';
comment on column merge_request_visits.before_id is 'The one that they had seen last when they first saw that version.';
drop trigger raise_rights_version on users;
create trigger raise_rights_version
  after insert or delete or update of username, name, email, commit_email, state, user_type, admin, external, confirmed_at, created_at,
    page_theme, page_times, page_time_zone, page_diffs, page_tab_width, page_keys, show_whitespace_in_diffs
  on users for each statement execute function raise_rights_version();
