-- Whether a content is a text that is too large for the index, so that a search can say that it has not looked into it.
alter table code_blobs add column is_left_out boolean not null default false;
create index code_blobs_left_out on code_blobs (id) where is_left_out;

-- Contents that are stored as nothing may be such texts: their projects are indexed anew, and look at them again.
delete from code_files where project_id in (select project_id from code_files join code_blobs on code_blobs.id = blob_id where content = '');
delete from code_blobs where content = '' and not exists (select from code_files where blob_id = code_blobs.id);
update code_indexes set commit_id = null, is_stale = true, changes = changes + 1
 where not exists (select from code_files where code_files.project_id = code_indexes.project_id);
