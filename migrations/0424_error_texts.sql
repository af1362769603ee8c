-- The texts of errors have a table of their own: the index that finds them is expensive to change, and each event that is counted changes all indexes of the
-- row that counts it. Texts are the same nearly every time, and then their row is left alone.
create table error_tracking_error_texts (
  error_id    bigint primary key references error_tracking_errors on delete cascade,
  -- That of the error, for the index: a search reads the texts of one project.
  project_id  bigint not null,
  name        text not null,
  description text not null,
  actor       text not null
);
-- Errors without a project are being deleted, and no longer shown.
insert into error_tracking_error_texts (error_id, project_id, name, description, actor)
  select id, project_id, name, description, actor from error_tracking_errors where project_id is not null order by id;
create index error_tracking_error_texts_search on error_tracking_error_texts
  using gin (project_id, name gin_trgm_ops, description gin_trgm_ops, actor gin_trgm_ops) with (gin_pending_list_limit = 256);
alter table error_tracking_errors drop column name, drop column description, drop column actor;
