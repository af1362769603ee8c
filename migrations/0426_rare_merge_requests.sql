-- outside a transaction
-- Clients ask for the merge request of a branch, and for drafts, which are few in a long list.
set lock_timeout = '10min';
drop index concurrently if exists merge_requests_by_source_branch;
create index concurrently merge_requests_by_source_branch on merge_requests (project_id, source_branch, id);
drop index concurrently if exists merge_requests_drafts;
create index concurrently merge_requests_drafts on merge_requests (project_id, created_at, id) where draft;
reset lock_timeout;
