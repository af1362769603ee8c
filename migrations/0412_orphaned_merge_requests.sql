-- An open merge request whose fork is gone can never be merged, and is closed.
update merge_requests set state = 'closed', closed_at = now(), auto_merge_user_id = null, auto_merge_parameters = null
 where state = 'opened' and source_project_id is null;
create index merge_requests_orphaned on merge_requests (id) where state = 'opened' and source_project_id is null;
