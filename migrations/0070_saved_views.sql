set local lock_timeout = '5s';
create table saved_views (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  project_id bigint references projects on delete cascade,
  group_id bigint references namespaces on delete cascade,
  list text not null,
  name text not null,
  query text not null,
  created_at timestamp with time zone default now() not null,
  constraint saved_views_list_check check (list = any (array['issues', 'merge_requests'])),
  constraint saved_views_place_check check (num_nonnulls(project_id, group_id) <= 1),
  constraint saved_views_name_key unique nulls not distinct (user_id, list, project_id, group_id, name)
);
create index saved_views_by_project on saved_views (project_id);
create index saved_views_by_group on saved_views (group_id);
comment on table saved_views is 'Filters of lists that people have kept under a name.';
comment on column saved_views.project_id is 'The project whose list it is; null for the list of a group, and of everything that the user sees.';
comment on column saved_views.group_id is 'The group whose list it is.';
comment on column saved_views.query is 'The query of the address of the list, without the question mark.';
