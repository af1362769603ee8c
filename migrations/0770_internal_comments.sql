-- outside a transaction
-- Not every reader counts the internal comments of an issue or merge request; few have any.
drop index concurrently if exists notes_internal_on_issue;
create index concurrently notes_internal_on_issue on notes (issue_id) where issue_id is not null and internal and not system;
drop index concurrently if exists notes_internal_on_merge_request;
create index concurrently notes_internal_on_merge_request on notes (merge_request_id) where merge_request_id is not null and internal and not system;
