-- Lists of errors: each order without a status, the level, and searching.
create index on error_tracking_errors (project_id, first_seen_at, id);
create index on error_tracking_errors (project_id, events_count, id);
create index on error_tracking_errors (project_id, users_count, id);
create index on error_tracking_errors (project_id, level, last_seen_at, id);
create index error_tracking_errors_search on error_tracking_errors
  using gin (project_id, name gin_trgm_ops, description gin_trgm_ops, actor gin_trgm_ops) with (gin_pending_list_limit = 256);
create index error_tracking_error_tags_values on error_tracking_error_tags (value, key, error_id)
  where key in ('environment', 'release');

-- A single event by its id.
create index on error_tracking_events (id);

-- An issue is about one error.
drop index error_tracking_errors_issue_id_idx;
create unique index on error_tracking_errors (issue_id) where issue_id is not null;

-- An error that is being deleted belongs to no project: a job deletes its events, of which there can be millions, and then the row.
alter table error_tracking_errors alter column project_id drop not null;
